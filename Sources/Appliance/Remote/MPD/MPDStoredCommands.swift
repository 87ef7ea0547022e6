import Library
import Platform
import Queue

extension MPDCommand {
    /// The commands about stored playlists: the stored playlists of the library.
    static let stored: [MPDCommand] = [
        MPDCommand("listplaylists", 0...0, .read) { player, client, _ in
            player.playlists { (playlists, _) throws(PlaylistFailure) in .output(try MPDOutput(playlists)) }
        },
        MPDCommand("listplaylist", 1...1, .read) { player, client, arguments in
            player.entries(of: arguments[0], client, isFull: false)
        },
        MPDCommand("listplaylistinfo", 1...1, .read) { player, client, arguments in
            player.entries(of: arguments[0], client, isFull: true)
        },
        MPDCommand("load", 1...3, .add) { (player, client, arguments) throws(MPDFailure) in
            try player.load(arguments)
        },
        MPDCommand("save", 1...1, .control) { player, _, arguments in
            let (name, queue) = (arguments[0], player.contents)
            return player.playlists(changing: name) { (playlists, _) throws(PlaylistFailure) in
                try playlists.create(name, with: PlaylistExecution.paths(of: queue))
                return .output(MPDOutput())
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
        MPDCommand("playlistclear", 1...1, .control) { player, _, arguments in
            player.change(arguments[0]) { (playlists, name) throws(PlaylistFailure) in
                _ = try playlists.path(of: name)
                try playlists.replace(name, with: [])
            }
        },
        MPDCommand("playlistdelete", 2...2, .control) { (player, _, arguments) throws(MPDFailure) in
            let range = try MPDNumbers.openRange(arguments[1])
            return player.change(arguments[0]) { (playlists, name) throws(PlaylistFailure) in
                try playlists.removeEntries(range, of: name)
            }
        },
        MPDCommand("playlistmove", 3...3, .control) { (player, _, arguments) throws(MPDFailure) in
            let (from, to) = (try MPDNumbers.unsigned(arguments[1]), try MPDNumbers.unsigned(arguments[2]))
            return player.change(arguments[0]) { (playlists, name) throws(PlaylistFailure) in
                try playlists.moveEntry(from: from, to: to, of: name)
            }
        },
        MPDCommand("playlistadd", 2...3, .control) { (player, client, arguments) throws(MPDFailure) in
            let isLocal = client.isLocal
            let place = arguments.count > 2 ? try MPDNumbers.unsigned(arguments[2]) : nil
            return player.add(to: arguments[0], at: place) { (database) throws(MPDFailure) in
                try MPDMusic(database, isLocal: isLocal).music(at: arguments[1]).products.ids
            }
        },
        MPDCommand("searchaddpl", 2...MPDArguments.limit, .control) { (player, _, arguments) throws(MPDFailure) in
            var wanted = Array(arguments.dropFirst())
            let text = MPDSelection.take("position", from: &wanted)
            let place = try text.map { (text) throws(MPDFailure) in try MPDNumbers.unsigned(text) }
            let filter = wanted
            return player.add(to: arguments[0], at: place) { (database) throws(MPDFailure) in
                guard let database else { throw .noDatabase }
                return try database.paths(matching: filter, isSearch: true)
            }
        },
    ]
}

extension MPDPlayer {
    /// Runs `body` on the thread of queries.
    /// - Parameter changed: the name of the playlist that it changes.
    fileprivate func playlists(
        changing changed: String? = nil,
        _ body: @escaping @Sendable (PlaylistFolder, MPDDatabase?) throws(PlaylistFailure) -> MPDAnswer
    ) -> MPDStep {
        guard let folder = daemon.library?.playlists else { return .later { $0(.failure(.noPlaylists)) } }
        return .later { [self] answer in
            query { (result: Result<MPDAnswer, MPDFailure>) in
                if let changed, case .success = result { self.daemon.observers.notify(.playlists(name: changed)) }
                answer(result)
            } _: { database in
                do throws(PlaylistFailure) { return .success(try body(folder, database)) } catch {
                    return .failure(MPDFailure(error))
                }
            }
        }
    }

    fileprivate func change(
        _ name: String, _ body: @escaping @Sendable (PlaylistFolder, String) throws(PlaylistFailure) -> Void
    ) -> MPDStep {
        playlists(changing: name) { (playlists, _) throws(PlaylistFailure) in
            try body(playlists, name)
            return .output(MPDOutput())
        }
    }

    /// Adds music to a playlist, and creates a missing one.
    /// - Parameter place: the index of the first entry; nil for the end.
    fileprivate func add(
        to name: String, at place: Int?, _ find: @escaping @Sendable (MPDDatabase?) throws(MPDFailure) -> [String]
    ) -> MPDStep {
        guard let folder = daemon.library?.playlists else { return .later { $0(.failure(.noPlaylists)) } }
        return .later { [self] answer in
            query { (result: Result<MPDAnswer, MPDFailure>) in
                if case .success = result { self.daemon.observers.notify(.playlists(name: name)) }
                answer(result)
            } _: { database in
                let paths: [String]
                do throws(MPDFailure) { paths = try find(database) } catch { return .failure(error) }
                do throws(PlaylistFailure) { try folder.add(paths, to: name, at: place) } catch {
                    return .failure(MPDFailure(error))
                }
                return .success(.output(MPDOutput()))
            }
        }
    }

    fileprivate func entries(of name: String, _ client: MPDClient, isFull: Bool) -> MPDStep {
        let (paths, tags) = (paths, client.tags)
        return playlists { (playlists, _) throws(PlaylistFailure) in
            .pieces(MPDPlaylistPieces(try playlists.entries(of: name), paths, tags, isFull: isFull))
        }
    }

    /// Adds the entries of a playlist to the queue: all, or those of a range, at a position or at the end.
    fileprivate func load(_ arguments: [String]) throws(MPDFailure) -> MPDStep {
        let range = arguments.count > 1 ? try MPDNumbers.openRange(arguments[1]) : 0..<Int.max
        let place = arguments.count > 2 ? try self.place(arguments[2], count: contents.count) : nil
        guard let folder = daemon.library?.playlists else { return .later { $0(.failure(.noPlaylists)) } }
        return .later { [self] answer in
            query { (result: Result<FoundMusic, MPDFailure>) in
                do throws(MPDFailure) {
                    try self.insert(try result.get(), at: place)
                    answer(.success(.output(MPDOutput())))
                } catch {
                    answer(.failure(error))
                }
            } _: { _ in
                do throws(PlaylistFailure) {
                    let entries = try folder.entries(of: arguments[0])
                    return .success(MPDMusic.music(Array(entries[range.clamped(to: 0..<entries.count)])))
                } catch {
                    return .failure(MPDFailure(error))
                }
            }
        }
    }
}

extension MPDOutput {
    fileprivate init(_ playlists: PlaylistFolder) throws(PlaylistFailure) {
        self.init()
        for playlist in try playlists.all() {
            pair("playlist", playlist.name)
            var line: [UInt8] = []
            line.lastModified(playlist.modified)
            append(line)
        }
    }

    /// The names of the stored playlists, and the times of their last changes.
    init(listing playlists: PlaylistFolder) throws(MPDFailure) {
        do throws(PlaylistFailure) { try self.init(playlists) } catch { throw MPDFailure(error) }
    }
}

/// The entries of a stored playlist, a hundred at a time.
///
/// Thread: that of queries. `@unchecked Sendable` is safe because one call follows the other.
private final class MPDPlaylistPieces: MPDPieces, @unchecked Sendable {
    private static let count = 100

    private var entries: ArraySlice<String>
    private let paths: MPDPaths
    private let tags: MPDTags
    private let isFull: Bool

    /// - Parameter isFull: with tags.
    init(_ entries: [String], _ paths: MPDPaths, _ tags: MPDTags, isFull: Bool) {
        self.entries = entries[...]
        self.paths = paths
        self.tags = tags
        self.isFull = isFull
    }

    func next(_ database: MPDDatabase?) throws(MPDFailure) -> [UInt8]? {
        guard !entries.isEmpty else { return nil }
        let part = Array(entries.prefix(Self.count))
        entries = entries.dropFirst(Self.count)
        var output = MPDOutput()
        if isFull, let database {
            try database.forEachSong(at: part) { _, song in output.append { song.write(to: &$0, tags) } }
        } else {
            for path in part { output.pair("file", paths.uri(ofPath: path) ?? path) }
        }
        return output.bytes
    }
}

extension MPDFailure {
    fileprivate static let noPlaylists = MPDFailure(.noSuchObject, "Stored playlists are disabled")

    fileprivate init(_ failure: PlaylistFailure) {
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
