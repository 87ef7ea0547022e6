import Database
import Library
import Media
import Platform
import Player

/// A picture that is read from its file, in parts. Keep it while a client reads: to find it again costs more than a
/// part.
///
/// Thread: one at a time; that of queries.
final class MPDPicture {
    /// The media type that a tag has; nil for a file of its own.
    let mediaType: String?
    private let content: Content

    private enum Content {
        case file(FileByteSource, size: Int64)
        case embedded(PictureBytes)
    }

    /// A picture in a file of its own.
    init(file path: String) throws(MPDFailure) {
        mediaType = nil
        let source: FileByteSource
        do throws(SystemError) { source = try FileByteSource(path: path) } catch {
            throw MPDFailure(.noSuchObject, "No file exists")
        }
        content = .file(source, size: source.length ?? 0)
    }

    /// A picture in a music file.
    init(_ picture: TagPicture, in path: String) throws(MPDFailure) {
        mediaType = picture.mediaType
        let source: FileByteSource
        do throws(SystemError) { source = try FileByteSource(path: path) } catch {
            throw MPDFailure(.noSuchObject, "No such song")
        }
        do throws(MediaError) { content = .embedded(try PictureBytes(of: picture, in: source)) } catch {
            throw MPDFailure(.system, "the picture cannot be read: \(error.reason)")
        }
    }

    var size: Int64 {
        switch content {
        case .file(_, let size): size
        case .embedded(let bytes): bytes.size
        }
    }

    /// Returns up to `count` bytes from an offset on; fewer only at the end.
    func read(at offset: Int64, count: Int) throws(MPDFailure) -> [UInt8] {
        switch content {
        case .file(let source, let size):
            guard 0..<size ~= offset, count > 0 else { return [] }
            return try Self.bytes(min(count, Int(clamping: size - offset)), at: offset, of: source)
        case .embedded(let bytes):
            do throws(MediaError) { return try bytes.read(count, at: offset) } catch {
                throw MPDFailure(.system, "the picture cannot be read: \(error.reason)")
            }
        }
    }

    private static func bytes(_ count: Int, at offset: Int64, of source: FileByteSource) throws(MPDFailure) -> [UInt8] {
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
        if failure != nil { throw MPDFailure(.system, "the picture cannot be read") }
        bytes.removeLast(bytes.count - read)
        return bytes
    }
}

extension MPDDatabase {
    /// Returns the picture of a song; nil without one.
    /// - Parameter embedded: the one in the file, and not one in its folder.
    func picture(_ uri: String, embedded: Bool) throws(MPDFailure) -> MPDPicture? {
        guard embedded else { return try cover(of: uri) }
        guard MPDPaths.isSafe(uri), let path = paths.path(ofURI: uri) else { throw Self.noSong }
        let found: (song: Int64?, picture: EmbeddedPicture?) = try read { (database) throws(DatabaseError) in
            guard let song = try MPDReader(database, paths).song(at: path) else { return (nil, nil) }
            return (song, try EmbeddedPicture(ofTrack: song, database))
        }
        guard found.song != nil else { throw Self.noSong }
        guard let picture = found.picture else { return nil }
        return try MPDPicture(picture.picture, in: picture.path)
    }

    private static let coverNames: [StaticString] = ["cover", "folder", "front", "albumart", "album"]
    private static let coverEndings: [StaticString] = [".png", ".jpg", ".jpeg", ".webp", ".jxl"]

    /// Returns the picture in the folder of a URI, which needs not to exist itself.
    private func cover(of uri: String) throws(MPDFailure) -> MPDPicture? {
        let bytes = Array(uri.utf8)
        let parent = String(decoding: bytes[..<(bytes.lastIndex(of: UInt8(ascii: "/")) ?? 0)], as: UTF8.self)
        guard MPDPaths.isSafe(uri), var folder = paths.path(ofURI: parent) else { return nil }
        // A track of a cue sheet is in its sheet.
        if FileKind(at: folder) == .file { folder = FilePlace(folder).folder }
        var best: (rank: Int, name: String)?
        let entries: [Folder.Entry]
        do throws(SystemError) {
            entries = try Folder.entries(of: folder) {
                $0.kind == .file && Self.rank(ofCover: $0.name) != nil ? .keep : .skip
            }
        } catch {
            return nil
        }
        for entry in entries {
            if let rank = Self.rank(ofCover: entry.name), rank < best?.rank ?? .max { best = (rank, entry.name) }
        }
        return try best.map { (found) throws(MPDFailure) in try MPDPicture(file: "\(folder)/\(found.name)") }
    }

    /// Returns nil for a file with another name. The names of MPD come first.
    private static func rank(ofCover name: String) -> Int? {
        var rank = 0
        for cover in coverNames {
            for ending in coverEndings {
                if name.utf8.count == cover.utf8CodeUnitCount + ending.utf8CodeUnitCount,
                    MPDWord.isEqual(String(decoding: name.utf8.prefix(cover.utf8CodeUnitCount), as: UTF8.self), cover),
                    MPDWord.isEqual(String(decoding: name.utf8.suffix(ending.utf8CodeUnitCount), as: UTF8.self), ending)
                {
                    return rank
                }
                rank += 1
            }
        }
        return nil
    }
}
