import HTTPServer
import Media
import Platform

/// `Media` reads the files that are served.
extension OpenedFile: ByteSource {
    package var length: Int64? { size }

    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead
    {
        do throws(SystemError) { return ByteRead(count: try file.read(into: buffer, at: offset)) } catch {
            throw .medium(error)
        }
    }
}
