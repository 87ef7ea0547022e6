import Media
import Platform

/// An open music file. Only its head, its tail and a sample of its middle are read.
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
}
