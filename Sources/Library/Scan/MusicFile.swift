import Media
import Platform

/// An open music file. Only its head and its tail are read.
///
/// Thread: one.
final class MusicFile: ByteSource {
    private let file: File
    private let size: Int64

    var length: Int64? { size }

    init(_ path: String) throws(SystemError) {
        file = try File(reading: path)
        size = try file.length()
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead {
        do throws(SystemError) { return ByteRead(count: try file.read(into: buffer, at: offset)) } catch {
            throw .medium(error)
        }
    }

    /// The number of bytes at each end that identify a content.
    private static let identifyingCount = 4096

    /// Identifies the content, whatever the name of its file: the size, the tags, and the first and last bytes.
    func content(_ metadata: TrackMetadata) throws(ByteSourceError) -> Int64 {
        var bytes = (0..<8).map { UInt8(truncatingIfNeeded: size >> (8 * $0)) }
        for field in [TagField.title, .artist, .album, .trackNumber] {
            for value in metadata[field] { bytes += Array(value.utf8) }
            bytes.append(0)
        }
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.identifyingCount, alignment: 1)
        defer { chunk.deallocate() }
        for offset in [0, max(0, size - Int64(Self.identifyingCount))] {
            guard case .bytes(let count) = try read(into: chunk, at: offset) else { continue }
            bytes.append(contentsOf: chunk[..<count])
        }
        let hash = ShortHash.of(bytes)
        // 0 stands for an unknown content.
        return hash == 0 ? 1 : hash
    }
}
