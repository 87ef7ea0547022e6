import Appliance
import Database
import Library

extension MPDDatabase {
    /// Returns the picture of a song; nil without one.
    /// - Parameter embedded: whether to return the picture in the song's file; otherwise the one in its folder.
    func picture(_ uri: String, embedded: Bool) throws(MPDFailure) -> MusicPicture? {
        guard embedded else { return try cover(of: uri) }
        guard MusicURIs.isSafe(uri), let path = paths.path(ofURI: uri) else { throw Self.noSong }
        let found: (song: Int64?, picture: EmbeddedPicture?) = try read { (index) throws(DatabaseError) in
            guard let song = try MPDReader(index, paths).song(at: path) else { return (nil, nil) }
            return (song, try EmbeddedPicture(ofTrack: song, index))
        }
        guard found.song != nil else { throw Self.noSong }
        guard let picture = found.picture else { return nil }
        do throws(MusicPicture.Failure) { return try MusicPicture(picture) } catch {
            throw MPDFailure(error, missing: "No such song")
        }
    }

    /// Returns the picture in the folder of a URI. The URI itself need not exist.
    private func cover(of uri: String) throws(MPDFailure) -> MusicPicture? {
        let bytes = Array(uri.utf8)
        let parent = String(decoding: bytes[..<(bytes.lastIndex(of: UInt8(ascii: "/")) ?? 0)], as: UTF8.self)
        guard MusicURIs.isSafe(uri), let folder = paths.path(ofURI: parent),
            let path = Cover.file(in: folder, paths.musicRoots)
        else { return nil }
        do throws(MusicPicture.Failure) { return try MusicPicture(file: path) } catch {
            throw MPDFailure(error, missing: "No file exists")
        }
    }
}

extension MPDFailure {
    /// - Parameter missing: MPD's message for a file that is gone.
    init(_ failure: MusicPicture.Failure, missing: String) {
        switch failure {
        case .noFile: self.init(.noSuchObject, missing)
        case .unreadable: self.init(.system, failure.description)
        }
    }
}

/// The picture that a client reads in parts. It stays open until its last part, because finding it again costs more
/// than reading a part.
///
/// Thread: that of queries; `@unchecked Sendable` is safe for that reason.
final class MPDPictureReading: @unchecked Sendable {
    private var kept: (uri: String, isEmbedded: Bool, picture: MusicPicture)?

    /// Returns a part of a picture, and the picture; nil when there is no picture.
    func part(
        of uri: String, embedded: Bool, at offset: Int64, limit: Int, _ database: MPDDatabase
    ) throws(MPDFailure) -> (picture: MusicPicture, bytes: [UInt8])? {
        var found: MusicPicture?
        // The first part finds the picture again, because it may have changed.
        if offset > 0, let kept, kept.isEmbedded == embedded, kept.uri.utf8.elementsEqual(uri.utf8) {
            found = kept.picture
        }
        kept = nil
        if found == nil { found = try database.picture(uri, embedded: embedded) }
        guard let picture = found else { return nil }
        guard offset <= picture.size else { throw MPDFailure(.argument, "Offset too large") }
        let bytes: [UInt8]
        do throws(MusicPicture.Failure) {
            bytes = try picture.read(at: offset, count: Int(min(Int64(limit), picture.size - offset)))
        } catch {
            throw MPDFailure(error, missing: "No file exists")
        }
        if offset + Int64(bytes.count) < picture.size { kept = (uri, embedded, picture) }
        return (picture, bytes)
    }
}
