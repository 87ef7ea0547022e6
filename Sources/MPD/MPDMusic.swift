import Appliance
import Library
import Platform
import Player
import Queue

/// Finds the music that a URI stands for: a song or a folder of the library, an address, or, for clients of this
/// machine, any path.
///
/// Thread: that of queries.
struct MPDMusic {
    private let database: MPDDatabase?
    private let isLocal: Bool

    init(_ database: MPDDatabase?, isLocal: Bool) {
        self.database = database
        self.isLocal = isLocal
    }

    /// Returns the paths and addresses of the music, without its media.
    func paths(at uri: String) throws(MPDFailure) -> [String] {
        if let database, !ServiceAddress.isMeant(by: uri), !WebFileAddress.isMeant(by: uri), MusicURIs.isSafe(uri) {
            return try database.paths(inURI: uri)
        }
        return try music(at: uri).products.ids
    }

    func music(at uri: String) throws(MPDFailure) -> FoundMusic {
        if ServiceAddress.isMeant(by: uri) {
            guard ServiceAddress(uri) != nil else { throw MPDNumbers.noSuchSong }
            return FoundMusic(files: [uri])
        }
        if WebFileAddress.isMeant(by: uri) { return FoundMusic(files: [uri]) }
        if uri.utf8.first == UInt8(ascii: "/"), !uri.utf8.elementsEqual("/".utf8) {
            guard isLocal else { throw MPDFailure(.noSuchObject, "Access denied") }
            return try Self.files(at: uri, database?.paths)
        }
        guard let database else { throw .noDatabase }
        return Self.music(try database.paths(inURI: uri))
    }

    /// Returns the music at these paths, with its media.
    static func music(_ paths: [String]) -> FoundMusic {
        var music = FoundMusic(files: paths)
        var points: [String] = []
        var lastFolder = ""
        for path in paths {
            let folder = FilePlace(path).folder
            if folder.utf8.elementsEqual(lastFolder.utf8) { continue }
            lastFolder = folder
            guard let point = MountPoint.containing(folder) else { continue }
            if !points.contains(where: { $0.utf8.elementsEqual(point.utf8) }) { points.append(point) }
        }
        music.mountPoints = points
        return music
    }

    /// Returns the music at an absolute path.
    /// - Parameter paths: the base of lines in playlists that are relative to the root of the music.
    static func files(at path: String, _ paths: MusicURIs?) throws(MPDFailure) -> FoundMusic {
        let search: MusicSearch
        do throws(SystemError) {
            search = try MusicSearch([path], limit: PlayQueue.capacity, musicPaths: paths)
        } catch {
            throw MPDFailure(.system, error.description)
        }
        switch search.run() {
        case .success(let music): return music
        case .failure(let error): throw MPDFailure(error)
        }
    }
}
