import Platform

/// The bytes of an embedded picture, read from the file in parts.
///
///     let bytes = try PictureBytes(of: picture, in: source)
///     try bytes.read(8192, at: 0)
///
/// Thread: one at a time.
public final class PictureBytes {
    /// The number of bytes of the picture.
    public let size: Int64
    private let file: SourceReader
    private let runs: [Run]
    private let encoding: TagPicture.Encoding
    /// Where the decoding may begin again, of an unsynchronised picture.
    private let marks: [Mark]

    /// Bytes of the file that follow each other there.
    private struct Run {
        /// The number of bytes before them.
        var start: Int64
        var offset: Int64
        var count: Int64
        var end: Int64 { start + count }
    }

    private struct Mark {
        /// The number of bytes of the file, and of the picture, before it.
        var encoded: Int64
        var decoded: Int64
        /// Whether the byte before it is 0xFF.
        var followsFF: Bool
    }

    /// The most bytes of a picture.
    private static let most: Int64 = 64 << 20
    private static let chunk: Int64 = 32 << 10

    /// - Throws: the picture is damaged, or cannot be read.
    public init(of picture: TagPicture, in source: any ByteSource) throws(MediaError) {
        do throws(Interruption) {
            guard picture.offset >= 0, 0...Self.most ~= picture.length else { throw .damaged(what: "a picture") }
            let file = SourceReader(source)
            let runs = try Self.runs(of: picture, source)
            (self.file, self.runs, encoding) = (file, runs, picture.encoding)
            let length = runs.last?.end ?? 0
            switch picture.encoding {
            case .plain: (size, marks) = (length, [])
            case .base64(let dropped):
                let tail = try Self.bytes(Int(min(length, 4)), at: max(0, length - 4), runs, file)
                let padding = tail.reduce(0) { $0 + ($1 == UInt8(ascii: "=") ? 1 : 0) }
                (size, marks) = (max(0, (length - Int64(padding)) * 3 / 4 - Int64(dropped)), [])
            case .unsynchronised:
                var mark = Mark(encoded: 0, decoded: 0, followsFF: false)
                var marks = [mark]
                while mark.encoded < length {
                    let bytes = try Self.bytes(
                        Int(min(Self.chunk, length - mark.encoded)), at: mark.encoded, runs, file)
                    if bytes.isEmpty { break }
                    mark.encoded += Int64(bytes.count)
                    mark.decoded += Int64(Self.synchronised(bytes, after: &mark.followsFF).count)
                    marks.append(mark)
                }
                (size, self.marks) = (mark.decoded, marks)
            }
        } catch {
            throw error.mediaError
        }
    }

    /// Returns up to `count` bytes of the picture from `offset` on; fewer only at its end.
    public func read(_ count: Int, at offset: Int64) throws(MediaError) -> [UInt8] {
        guard 0..<size ~= offset else { return [] }
        let count = Int(min(Int64(count), size - offset))
        do throws(Interruption) {
            switch encoding {
            case .plain: return try Self.bytes(count, at: offset, runs, file)
            case .base64(let dropped):
                let start = offset + Int64(dropped)
                let characters = try Self.bytes((count / 3 + 2) * 4, at: start / 3 * 4, runs, file)
                guard let bytes = Base64.bytes(characters) else { throw .damaged(what: "a picture") }
                return Array(bytes.dropFirst(Int(start % 3)).prefix(count))
            case .unsynchronised: return try unsynchronised(count, at: offset)
            }
        } catch {
            throw error.mediaError
        }
    }

    private func unsynchronised(_ count: Int, at offset: Int64) throws(Interruption) -> [UInt8] {
        guard var mark = marks.last(where: { $0.decoded <= offset }) else { return [] }
        var bytes: [UInt8] = []
        let skipped = Int(offset - mark.decoded)
        while bytes.count < skipped + count {
            let encoded = try Self.bytes(Int(Self.chunk), at: mark.encoded, runs, file)
            if encoded.isEmpty { break }
            mark.encoded += Int64(encoded.count)
            bytes += Self.synchronised(encoded, after: &mark.followsFF)
        }
        return Array(bytes.dropFirst(skipped).prefix(count))
    }

    /// Leaves out a zero after 0xFF.
    private static func synchronised(_ bytes: [UInt8], after followsFF: inout Bool) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        for byte in bytes {
            if !followsFF || byte != 0 { result.append(byte) }
            followsFF = byte == 0xFF
        }
        return result
    }

    // MARK: Bytes of the file

    /// The places of the bytes in the file. Those of several pages of Ogg have headers between them.
    private static func runs(of picture: TagPicture, _ source: any ByteSource) throws(Interruption) -> [Run] {
        guard let first = picture.page else {
            return [Run(start: 0, offset: picture.offset, count: picture.length)]
        }
        let pages = OggPages(source)
        var runs: [Run] = []
        var serial: UInt32?
        var (offset, start) = (first, Int64(0))
        while start < picture.length {
            guard let page = try pages.headerOrNext(from: offset) else { throw .damaged(what: "a picture") }
            offset = page.end
            guard page.serial == serial ?? page.serial else { continue }
            serial = page.serial
            let body = page.offset + Int64(page.headerSize)
            let begin = runs.isEmpty ? max(body, picture.offset) : body
            let count = min(page.end - begin, picture.length - start)
            guard count > 0 else { continue }
            runs.append(Run(start: start, offset: begin, count: count))
            start += count
        }
        return runs
    }

    private static func bytes(
        _ count: Int, at start: Int64, _ runs: [Run], _ file: SourceReader
    ) throws(Interruption) -> [UInt8] {
        var bytes: [UInt8] = []
        for run in runs where run.end > start && run.start < start + Int64(count) {
            let skipped = max(0, start - run.start)
            let wanted = min(run.count - skipped, Int64(count - bytes.count))
            bytes += try file.bytes(Int(wanted), at: run.offset + skipped)
        }
        return bytes
    }
}

extension Interruption {
    /// Files of the medium never have to wait.
    fileprivate var mediaError: MediaError {
        switch self {
        case .failed(let error): error
        case .notYet: .damaged(what: "a picture")
        }
    }
}
