import Appliance
import Library
import Platform
import Queue

extension MPDCommand {
    /// The commands about stored playlists: the stored playlists of the library.
    static let stored: [MPDCommand] = [
        MPDCommand("listplaylists", 0...0, .read) { player, client, _ in
            player.readPlaylists { (playlists) throws(PlaylistFailure) in .output(try MPDOutput(playlists)) }
        },
        MPDCommand("listplaylist", 1...1, .read) { player, client, arguments in
            player.entries(of: arguments[0], client, isFull: false)
        },
        MPDCommand("listplaylistinfo", 1...1, .read) { player, client, arguments in
            player.entries(of: arguments[0], client, isFull: true)
        },
        MPDCommand("load", 1...3, .add) { (player, client, arguments) throws(MPDFailure) in
            try player.load(arguments, client)
        },
        MPDCommand("save", 1...1, .control) { player, _, arguments in
            let (name, queue) = (arguments[0], player.contents)
            return player.change(name) { (playlists, name) throws(PlaylistFailure) in
                try playlists.create(name, with: PlaylistExecution.paths(of: queue))
            }
        },
        MPDCommand("rm", 1...1, .control) { player, _, arguments in
            player.change(arguments[0]) { (playlists, name) throws(PlaylistFailure) in try playlists.remove(name) }
        },
        MPDCommand("rename", 2...2, .control) { player, _, arguments in
            player.change(arguments[0]) { (playlists, name) throws(PlaylistFailure) in
                try playlists.rename(name, to: arguments[1])
            }
        },
        MPDCommand("playlistclear", 1...1, .control, .work) { _, _, arguments in
            .work(.playlist(MPDPlaylistWork(name: arguments[0]) { _ in .clear }))
        },
        MPDCommand("playlistdelete", 2...2, .control, .work) { (_, _, arguments) throws(MPDFailure) in
            let range = try MPDNumbers.openRange(arguments[1])
            return .work(.playlist(MPDPlaylistWork(name: arguments[0]) { _ in .remove(range) }))
        },
        MPDCommand("playlistmove", 3...3, .control, .work) { (_, _, arguments) throws(MPDFailure) in
            let (from, to) = (try MPDNumbers.unsigned(arguments[1]), try MPDNumbers.unsigned(arguments[2]))
            return .work(.playlist(MPDPlaylistWork(name: arguments[0]) { _ in .move(from: from, to: to) }))
        },
        MPDCommand("playlistadd", 2...3, .control, .work) { (_, client, arguments) throws(MPDFailure) in
            let isLocal = client.isLocal
            let place = arguments.count > 2 ? try MPDNumbers.unsigned(arguments[2]) : nil
            return .work(
                .playlist(
                    MPDPlaylistWork(name: arguments[0]) { (database) throws(MPDFailure) in
                        try MPDMusic(database, isLocal: isLocal).paths(at: arguments[1])
                    } change: {
                        .add($0, at: place)
                    }))
        },
        MPDCommand("searchaddpl", 2...MPDArguments.limit, .control, .work) { (_, _, arguments) throws(MPDFailure) in
            var wanted = Array(arguments.dropFirst())
            let text = MPDSelection.take("position", from: &wanted)
            let place = try text.map { (text) throws(MPDFailure) in try MPDNumbers.unsigned(text) }
            let filter = wanted
            return .work(
                .playlist(
                    MPDPlaylistWork(name: arguments[0]) { (database) throws(MPDFailure) in
                        guard let database else { throw .noDatabase }
                        return try database.paths(matching: filter, isSearch: true)
                    } change: {
                        .add($0, at: place)
                    }))
        },
    ]
}

extension MPDPlayer {
    /// Runs `body` on the thread that reads playlists.
    func readPlaylists(_ body: @escaping @Sendable (PlaylistFolder) throws(PlaylistFailure) -> MPDAnswer) -> MPDStep {
        guard let library = daemon.library else { return .later { $0(.failure(.noPlaylists)) } }
        let (loop, folder) = (daemon.loop, library.playlists)
        return .later { answer in
            // Safe: the other thread passes the closure back and does not call it.
            nonisolated(unsafe) let answer = answer
            library.readPlaylists {
                let result: Result<MPDAnswer, MPDFailure>
                do throws(PlaylistFailure) { result = .success(try body(folder)) } catch {
                    result = .failure(MPDFailure(error))
                }
                // Safe: from now on only the loop uses the result.
                nonisolated(unsafe) let passed = result
                loop.post { answer(passed) }
            }
        }
    }

    /// Runs `body` on the thread that changes playlists.
    fileprivate func change(
        _ name: String, _ body: @escaping @Sendable (PlaylistFolder, String) throws(PlaylistFailure) -> Void
    ) -> MPDStep {
        guard let library = daemon.library else { return .later { $0(.failure(.noPlaylists)) } }
        let (loop, folder) = (daemon.loop, library.playlists)
        return .later { [self] answer in
            // Safe: the other thread passes the closure back and does not call it.
            nonisolated(unsafe) let answer = answer
            library.changePlaylists {
                let failure: MPDFailure?
                do throws(PlaylistFailure) {
                    try body(folder, name)
                    failure = nil
                } catch {
                    failure = MPDFailure(error)
                }
                loop.post { [self] in
                    if let failure { return answer(.failure(failure)) }
                    daemon.observers.notify(.playlists(name: name))
                    answer(.success(.output(MPDOutput())))
                }
            }
        }
    }

    fileprivate func entries(of name: String, _ client: MPDClient, isFull: Bool) -> MPDStep {
        let (paths, tags) = (paths, client.tags)
        return .later { [self] answer in
            read(MPDListRequest(name: name, onlyExisting: false, isLocal: client.isLocal)) { result in
                answer(result.map { .pieces(MPDPlaylistPieces($0.entries, paths, tags, isFull: isFull)) })
            }
        }
    }

    /// Adds the entries of a playlist to the queue: all, or those of a range, at a position or at the end.
    fileprivate func load(_ arguments: [String], _ client: MPDClient) throws(MPDFailure) -> MPDStep {
        let range = arguments.count > 1 ? try MPDNumbers.openRange(arguments[1]) : 0..<Int.max
        let place = arguments.count > 2 ? try self.place(arguments[2], count: contents.count) : nil
        return .later { [self] answer in
            let request = MPDListRequest(
                name: arguments[0], range: range, onlyExisting: true, isLocal: client.isLocal)
            read(request) { result in
                do throws(MPDFailure) {
                    let list = try result.get()
                    try self.insert(list.music, at: place)
                    if let message = list.missingMessage { self.failed(message) }
                    answer(.success(.output(MPDOutput())))
                } catch {
                    answer(.failure(error))
                }
            }
        }
    }
}

extension MPDOutput {
    /// Adds the names of the stored playlists, and the times of their last changes.
    init(_ playlists: PlaylistFolder) throws(PlaylistFailure) {
        self.init()
        for playlist in try playlists.all() {
            pair("playlist", playlist.name)
            var line: [UInt8] = []
            line.lastModified(playlist.modified)
            append(line)
        }
    }
}

/// The entries of a stored playlist, a hundred at a time.
///
/// Thread: that of queries. `@unchecked Sendable` is safe because there is one call at a time.
private final class MPDPlaylistPieces: MPDPieces, @unchecked Sendable {
    private static let count = 100

    private var entries: ArraySlice<String>
    private let paths: MusicURIs
    private let tags: MPDTags
    private let isFull: Bool

    /// - Parameter isFull: whether to add tags.
    init(_ entries: [String], _ paths: MusicURIs, _ tags: MPDTags, isFull: Bool) {
        self.entries = entries[...]
        self.paths = paths
        self.tags = tags
        self.isFull = isFull
    }

    var needIndex: Bool { isFull }

    func next(_ database: MPDDatabase?) throws(MPDFailure) -> [UInt8]? {
        guard !entries.isEmpty else { return nil }
        let part = Array(entries.prefix(Self.count))
        entries = entries.dropFirst(Self.count)
        var output = MPDOutput()
        if isFull, let database {
            try database.forEachSong(at: part) { _, song in output.append { song.write(to: &$0, tags) } }
        } else {
            for path in part { output.file(paths.shownURI(ofPath: path)) }
        }
        return output.bytes
    }
}

extension MPDFailure {
    static let noPlaylists = MPDFailure(.noSuchObject, "Stored playlists are disabled")

    init(_ failure: PlaylistFailure) {
        switch failure {
        case .noSuchPlaylist: self.init(.noSuchObject, "No such playlist")
        case .exists: self.init(.exists, "Playlist already exists")
        case .badName: self.init(.argument, "Bad playlist name")
        case .noSuchEntry: self = MPDNumbers.badIndex
        case .full: self.init(.playlistTooLarge, failure.description)
        case .badEntry: self.init(.argument, failure.description)
        case .system: self.init(.system, failure.description)
        }
    }
}
