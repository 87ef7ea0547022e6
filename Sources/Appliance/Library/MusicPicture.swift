import Library
import Media
import Platform
import Player

/// A picture of music, in its own file or in a music file. It is read in parts. Keep the object while a client reads,
/// because finding the picture again costs more than reading a part.
///
///     let picture = try MusicPicture(file: path)
///     try picture.read(at: 0, count: 8192)
///
/// Thread: one at a time, which may block on the medium.
package final class MusicPicture {
    /// The media type from the tag; nil for a picture in its own file.
    package let mediaType: String?
    /// The file that has the picture.
    let path: String
    private let content: Content

    private enum Content {
        case file(FileByteSource, size: Int64)
        case embedded(PictureBytes)
    }

    /// Why a picture cannot be read.
    package enum Failure: Error, Equatable, CustomStringConvertible {
        case noFile
        case unreadable(String)

        package var description: String {
            switch self {
            case .noFile: "the file of the picture is gone"
            case .unreadable(let reason): "the picture cannot be read: \(reason)"
            }
        }
    }

    /// Opens a picture in its own file.
    package init(file path: String) throws(Failure) {
        mediaType = nil
        self.path = path
        let source: FileByteSource
        do throws(SystemError) { source = try FileByteSource(path: path) } catch { throw .noFile }
        content = .file(source, size: source.length ?? 0)
    }

    /// Opens a picture in a music file.
    package init(_ picture: EmbeddedPicture) throws(Failure) {
        mediaType = picture.picture.mediaType
        path = picture.path
        let source: FileByteSource
        do throws(SystemError) { source = try FileByteSource(path: path) } catch { throw .noFile }
        do throws(MediaError) { content = .embedded(try PictureBytes(of: picture.picture, in: source)) } catch {
            throw .unreadable(error.reason)
        }
    }

    /// The size in bytes.
    package var size: Int64 {
        switch content {
        case .file(_, let size): size
        case .embedded(let bytes): bytes.size
        }
    }

    /// Returns up to `count` bytes from an offset on; fewer only at the end.
    package func read(at offset: Int64, count: Int) throws(Failure) -> [UInt8] {
        switch content {
        case .file(let source, let size):
            guard 0..<size ~= offset, count > 0 else { return [] }
            return try Self.bytes(min(count, Int(clamping: size - offset)), at: offset, of: source)
        case .embedded(let bytes):
            do throws(MediaError) { return try bytes.read(count, at: offset) } catch {
                throw .unreadable(error.reason)
            }
        }
    }

    private static func bytes(_ count: Int, at offset: Int64, of source: FileByteSource) throws(Failure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var failure: ByteSourceError?
        let read = bytes.withUnsafeMutableBytes { buffer -> Int in
            do throws(ByteSourceError) {
                if case .bytes(let count) = try source.read(into: buffer, at: offset) { return count }
            } catch {
                failure = error
            }
            return 0
        }
        if failure != nil { throw .unreadable("the medium does not give it") }
        bytes.removeLast(bytes.count - read)
        return bytes
    }
}
