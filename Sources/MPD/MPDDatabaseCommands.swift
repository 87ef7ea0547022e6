import Appliance
import Library
import Queue

extension MPDCommand {
    /// The commands that read the library.
    static let database =
        MPDDatabase.names.map { name in
            MPDCommand(name, 0...MPDArguments.limit, .read) { (player, client, arguments) throws(MPDFailure) in
                let isRoot = arguments.first.map { $0.utf8.isEmpty || $0.utf8.elementsEqual("/".utf8) } ?? true
                if isRoot, name.isEqual(to: "lsinfo"), player.daemon.library != nil {
                    return player.root(client, arguments)
                }
                return player.query(client) { (database) throws(MPDFailure) in
                    .pieces(try database.answer(to: name.text, arguments))
                }
            }
        } + [
            MPDCommand("findadd", 1...MPDArguments.limit, .add, .work) {
                (player, client, arguments) throws(MPDFailure) in
                try player.addFound(arguments, client, isSearch: false)
            },
            MPDCommand("searchadd", 1...MPDArguments.limit, .add, .work) {
                (player, client, arguments) throws(MPDFailure) in
                try player.addFound(arguments, client, isSearch: true)
            },
            MPDCommand("update", 0...1, .control) { player, _, _ in player.update() },
            MPDCommand("rescan", 0...1, .control) { player, _, _ in player.update() },
            MPDCommand("albumart", 2...2, .read) { (player, client, arguments) throws(MPDFailure) in
                try player.picture(arguments, client, isEmbedded: false)
            },
            MPDCommand("readpicture", 2...2, .read) { (player, client, arguments) throws(MPDFailure) in
                try player.picture(arguments, client, isEmbedded: true)
            },
        ]
}

extension MPDPlayer {
    /// Lists the root: the library, and then the stored playlists.
    fileprivate func root(_ client: MPDClient, _ arguments: [String]) -> MPDStep {
        guard
            case .later(let list) = readPlaylists({ (playlists) throws(PlaylistFailure) in
                .output(try MPDOutput(playlists))
            })
        else { return .done }
        let tags = client.tags
        return .later { [self] answer in
            list { listed in
                guard case .success(.output(let playlists)) = listed else { return answer(listed) }
                self.query(tags: tags, answer) { database -> Result<MPDAnswer, MPDFailure> in
                    guard let database else { return .failure(.noDatabase) }
                    do throws(MPDFailure) {
                        return .success(.pieces(MPDRootPieces(try database.answer(to: "lsinfo", arguments), playlists)))
                    } catch {
                        return .failure(error)
                    }
                }
            }
        }
    }

    fileprivate func update() -> MPDStep {
        guard let library = daemon.library else { return .later { $0(.failure(.noDatabase)) } }
        library.scan()
        notify(.update, nil)
        var output = MPDOutput()
        output.pair("updating_db", 1)
        return .output(output)
    }

    /// Adds the songs that a filter finds.
    fileprivate func addFound(
        _ arguments: [String], _ client: MPDClient, isSearch: Bool
    ) throws(MPDFailure) -> MPDStep {
        var (filter, place) = (arguments, String?.none)
        // `position P` may be at the end of the line.
        if filter.count >= 3, filter[filter.count - 2].utf8.elementsEqual("position".utf8) {
            place = filter[filter.count - 1]
            filter.removeLast(2)
        }
        let (asked, wanted) = (filter, place)
        return .work(
            .music(
                MPDMusicWork { (database) throws(MPDFailure) in
                    guard let database else { throw .noDatabase }
                    return MPDMusic.music(try database.paths(matching: asked, isSearch: isSearch))
                } use: { [self] (music) throws(MPDFailure) in
                    let index = try wanted.map { (text) throws(MPDFailure) in
                        try self.place(text, count: contents.count)
                    }
                    try insert(music, at: index)
                    return MPDOutput()
                }))
    }

    /// Answers with a part of a picture, in the file of a song or beside it.
    fileprivate func picture(
        _ arguments: [String], _ client: MPDClient, isEmbedded: Bool
    ) throws(MPDFailure) -> MPDStep {
        let (uri, limit) = (arguments[0], client.binaryLimit)
        let offset = Int64(try MPDNumbers.unsigned(arguments[1]))
        return query(client) { [reading = client.picture] (database) throws(MPDFailure) in
            var output = MPDOutput()
            let part = try reading.part(of: uri, embedded: isEmbedded, at: offset, limit: limit, database)
            guard let part else {
                if isEmbedded { return .output(output) }
                throw MPDFailure(.noSuchObject, "No file exists")
            }
            output.pair("size", part.picture.size)
            if isEmbedded, let type = part.picture.mediaType { output.pair("type", type) }
            output.pair("binary", part.bytes.count)
            output.append(part.bytes)
            output.append([UInt8(ascii: "\n")])
            return .output(output)
        }
    }
}

/// The content of the root: the library, and then the stored playlists.
///
/// Thread: that of queries. `@unchecked Sendable` is safe because there is one call at a time.
private final class MPDRootPieces: MPDPieces, @unchecked Sendable {
    private let library: MPDPages
    private var playlists: MPDOutput?

    init(_ library: MPDPages, _ playlists: MPDOutput) {
        self.library = library
        self.playlists = playlists
    }

    func next(_ database: MPDDatabase?) throws(MPDFailure) -> [UInt8]? {
        if let piece = try library.next() { return piece }
        guard let playlists else { return nil }
        self.playlists = nil
        return playlists.bytes
    }
}

// @unchecked: there is one call at a time.
extension MPDPages: MPDPieces, @unchecked Sendable {
    /// The pages already have their database.
    func next(_ database: MPDDatabase?) throws(MPDFailure) -> [UInt8]? { try next() }
}
