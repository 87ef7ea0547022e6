/// The chunks of a Wave64 file (`.w64`), in any order: as WAV, with names of 16 bytes, and sizes of 64 bits that
/// include the header of the chunk.
struct Wave64Header {
    private(set) var format: WAVFormat?
    /// The position of the samples. Without a count they reach to the end of the file.
    private(set) var data: (offset: Int64, byteCount: Int64?)?

    /// The header size of a chunk.
    private static let headerSize: Int64 = 24
    /// The header size of the file: `riff`, its size, `wave`.
    private static let fileHeaderSize: Int64 = 40
    private static let mostChunks = 4096
    private static let largestFormat: Int64 = 1024

    /// The bytes after the four letters of most names.
    private static let nameTail: [UInt8] = [0xF3, 0xAC, 0xD3, 0x11, 0x8C, 0xD1, 0x00, 0xC0, 0x4F, 0x8E, 0xDB, 0x8A]

    init(_ source: any ByteSource) throws(Interruption) {
        let reader = SourceReader(source)
        let end = source.length ?? .max
        var offset = Self.fileHeaderSize
        for _ in 0..<Self.mostChunks {
            guard offset <= end - Self.headerSize else { return }
            var chunk = ByteReader(try reader.bytes(Int(Self.headerSize), at: offset))
            guard let name = chunk.code(), let tail = chunk.bytes(Self.nameTail.count),
                let declared = chunk.littleEndian(UInt64.self)
            else { return }
            // A writer that cannot go back leaves 0 or the largest number there is.
            let size = declared <= UInt64(AudioLimits.largestData) ? Int64(declared) - Self.headerSize : -1
            let content = offset + Self.headerSize
            let isKnown = tail.elementsEqual(Self.nameTail)
            if isKnown, name == "data", data == nil { data = (content, size > 0 ? size : nil) }
            guard size >= 0 else { return }
            if isKnown, name == "fmt ", format == nil {
                let bytes = try reader.bytes(Int(min(size, Self.largestFormat)), at: content)
                do throws(Interruption) { format = try WAVFormat(bytes) } catch { throw Self.named(error) }
            }
            // No chunk after the samples is needed.
            if format != nil, data != nil { return }
            offset = content + (size + 7) / 8 * 8
        }
    }

    /// An error of the format with the name of this container.
    private static func named(_ error: Interruption) -> Interruption {
        func named(_ what: String) -> String {
            what.utf8.starts(with: "WAV ".utf8) ? "Wave64" + String(Substring(what.utf8.dropFirst(3))) : what
        }
        switch error {
        case .failed(.unsupported(let what)): return .failed(.unsupported(what: named(what)))
        case .failed(.damaged(let what)): return .failed(.damaged(what: named(what)))
        default: return error
        }
    }

    /// Whether a file begins like Wave64.
    static func begins(_ head: [UInt8]) -> Bool {
        head.starts(with: Array("riff".utf8) + [0x2E, 0x91, 0xCF, 0x11, 0xA5, 0xD6, 0x28, 0xDB, 0x04, 0xC1, 0, 0])
            && head.count >= fileHeaderSize && head[24..<40].elementsEqual(Array("wave".utf8) + nameTail)
    }
}
