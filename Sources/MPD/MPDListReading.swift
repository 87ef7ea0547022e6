import Appliance
import Database
import Library
import Platform
import Queue

/// A playlist that a client names: a stored playlist, or the URI of a playlist in the music folders that `lsinfo`
/// lists.
struct MPDListRequest: Sendable {
    var name: String
    var range: Range<Int> = 0..<Int.max
    /// Whether missing entries are left out and reported.
    var onlyExisting: Bool
    /// Whether the client runs on this machine. For other clients, an entry outside of the music folders counts as
    /// missing.
    var isLocal: Bool
}

/// The entries of a playlist.
struct MPDList: Sendable {
    /// The maximum number of missing entries that a message names.
    private static let mostNamed = 10

    let name: String
    var music: FoundMusic
    /// The lines of missing entries.
    var missing: [String] = []

    var entries: [String] { music.products.ids }

    /// A message that names missing entries; nil when all entries exist.
    var missingMessage: String? {
        if missing.isEmpty { return nil }
        let named = missing.prefix(Self.mostNamed).map { "\"\($0)\"" }.joined(separator: ", ")
        let others = missing.count - Self.mostNamed
        let more = others > 0 ? " and \(others) more" : ""
        return "\(name): \(missing.count == 1 ? "an entry does" : "entries do") not exist: \(named)\(more)"
    }

    /// Fails when no entry of the playlist exists.
    func checked() throws(MPDFailure) -> MPDList {
        guard music.count == 0, let message = missingMessage else { return self }
        throw MPDFailure(.noSuchObject, message)
    }
}

extension MPDPlayer {
    private typealias ListAnswer = (Result<MPDList, MPDFailure>) -> Void

    /// Reads a playlist on the thread that reads playlists.
    func read(_ request: MPDListRequest, _ answer: @escaping (Result<MPDList, MPDFailure>) -> Void) {
        guard daemon.library != nil else { return answer(.failure(.noPlaylists)) }
        onReader({ (folder) throws(MPDFailure) in try Self.stored(request, folder) }) { [self] result in
            guard let result else { return readInMusic(request, answer) }
            answer(result)
        }
    }

    /// Returns nil when there is no stored playlist of this name.
    private static func stored(_ request: MPDListRequest, _ folder: PlaylistFolder) throws(MPDFailure) -> MPDList? {
        do throws(PlaylistFailure) {
            guard request.onlyExisting else {
                let all = try folder.entries(of: request.name, request.range)
                return MPDList(name: request.name, music: FoundMusic(files: all.entries))
            }
            let (entries, missing) = try folder.music(of: request.name, request.range)
            return MPDList(name: request.name, music: MPDMusic.music(entries), missing: missing)
        } catch {
            switch error {
            case .noSuchPlaylist, .badName: return nil
            default: throw MPDFailure(error)
            }
        }
    }

    /// Reads a playlist or a cue sheet of the library.
    private func readInMusic(_ request: MPDListRequest, _ answer: @escaping ListAnswer) {
        query { [self] (result: Result<MPDDatabase.ListPlace?, MPDFailure>) in
            guard case .success(let place?) = result else {
                return answer(.failure(MPDFailure(.noSuchObject, "No such playlist")))
            }
            switch place {
            case .tracks(let paths):
                answer(.success(MPDList(name: request.name, music: Self.part(paths, request.range))))
            case .file(let path):
                let paths = paths
                onReader({ (_) throws(MPDFailure) in try Self.inMusic(request, at: path, paths) }) { result in
                    answer(result ?? .failure(MPDFailure(.noSuchObject, "No such playlist")))
                }
            }
        } _: { database in
            do throws(MPDFailure) { return .success(try database?.list(at: request.name)) } catch {
                return .failure(error)
            }
        }
    }

    private static func inMusic(
        _ request: MPDListRequest, at path: String, _ paths: MusicURIs
    ) throws(MPDFailure) -> MPDList {
        let found = try MPDMusic.files(at: path, paths).products.ids
        let chosen = Array(found[request.range.clamped(to: 0..<found.count)])
        guard !request.isLocal else { return MPDList(name: request.name, music: MPDMusic.music(chosen)) }
        let roots = paths.musicRoots
        func isOut(_ place: String) -> Bool { place.utf8.first == UInt8(ascii: "/") && !roots.contain(place) }
        return MPDList(
            name: request.name, music: MPDMusic.music(chosen.filter { !isOut($0) }), missing: chosen.filter(isOut))
    }

    private static func part(_ paths: [String], _ range: Range<Int>) -> FoundMusic {
        MPDMusic.music(Array(paths[range.clamped(to: 0..<paths.count)]))
    }

    /// Makes the next piece on the thread that reads playlists.
    func readPlaylist(_ pieces: any MPDPieces, _ answer: @escaping (Result<[UInt8]?, MPDFailure>) -> Void) {
        guard let library = daemon.library else { return answer(.failure(.noPlaylists)) }
        // Safe: the other thread passes the closure back and does not call it.
        nonisolated(unsafe) let answer = answer
        let loop = daemon.loop
        library.readPlaylists {
            let result: Result<[UInt8]?, MPDFailure>
            do throws(MPDFailure) { result = .success(try pieces.next(nil)) } catch { result = .failure(error) }
            loop.post { answer(result) }
        }
    }

    /// Runs `body` on the thread that reads playlists. Its result is nil when there is no such playlist.
    private func onReader(
        _ body: @escaping @Sendable (PlaylistFolder) throws(MPDFailure) -> MPDList?,
        _ answer: @escaping (Result<MPDList, MPDFailure>?) -> Void
    ) {
        guard let library = daemon.library else { return answer(nil) }
        // Safe: the other thread passes the closure back and does not call it.
        nonisolated(unsafe) let answer = answer
        let (loop, folder) = (daemon.loop, library.playlists)
        library.readPlaylists {
            let result: Result<MPDList, MPDFailure>?
            do throws(MPDFailure) {
                result = try body(folder).map { (list) throws(MPDFailure) in .success(try list.checked()) }
            } catch {
                result = .failure(error)
            }
            loop.post { answer(result) }
        }
    }
}

extension MPDDatabase {
    /// A playlist that `lsinfo` lists.
    enum ListPlace: Sendable {
        /// The file of a playlist.
        case file(String)
        /// The tracks of a cue sheet.
        case tracks([String])
    }

    /// Returns nil when the URI is not a playlist.
    func list(at uri: String) throws(MPDFailure) -> ListPlace? {
        guard MusicURIs.isSafe(uri), let path = paths.path(ofURI: uri) else { return nil }
        let place = FilePlace(path)
        let (isList, isSheet) = try read { (index) throws(DatabaseError) in
            var reader = MPDReader(index, paths)
            guard let folder = try reader.number(ofFolderAt: place.folder) else { return (false, false) }
            func has(_ files: [ListedFile]) -> Bool {
                files.contains { $0.file.utf8.elementsEqual(place.file.utf8) }
            }
            return (has(try reader.playlists(inFolder: folder)), has(try reader.sheets(inFolder: folder)))
        }
        if isList { return .file(path) }
        return isSheet ? .tracks(try self.paths(inURI: uri)) : nil
    }
}
