import Appliance
import Database
import Library
import Platform
import Player

extension MPDCommand {
    /// The command about stickers.
    static let stickers = [
        MPDCommand("sticker", 3...6, .admin) { (player, _, arguments) throws(MPDFailure) in
            try player.perform(try MPDStickerRequest(arguments))
        }
    ]
}

/// `sticker VERB song URI …`
enum MPDStickerRequest: Equatable, Sendable {
    case get(uri: String, name: String)
    case set(uri: String, name: String, value: String)
    /// - Parameter name: the name of the sticker; nil for all stickers of the song.
    case delete(uri: String, name: String?)
    case list(uri: String)
    case find(folder: String, name: String, MPDStickerComparison?, value: String)

    init(_ arguments: [String]) throws(MPDFailure) {
        guard arguments[1].utf8.elementsEqual("song".utf8) else {
            throw MPDFailure(.argument, "unknown sticker domain")
        }
        let (uri, rest) = (arguments[2], Array(arguments.dropFirst(3)))
        func isVerb(_ word: StaticString, _ count: ClosedRange<Int>) -> Bool {
            word.isEqual(to: arguments[0]) && count.contains(rest.count)
        }
        if isVerb("get", 1...1) {
            self = .get(uri: uri, name: rest[0])
        } else if isVerb("set", 2...2) {
            let limits = MPDStickerRows.limits
            guard (1...limits.name).contains(rest[0].utf8.count), rest[1].utf8.count <= limits.value else {
                throw MPDFailure(.argument, "the name or the value of a sticker is too long")
            }
            self = .set(uri: uri, name: rest[0], value: rest[1])
        } else if isVerb("delete", 0...1) {
            self = .delete(uri: uri, name: rest.first)
        } else if isVerb("list", 0...0) {
            self = .list(uri: uri)
        } else if isVerb("find", 1...1) {
            self = .find(folder: uri, name: rest[0], nil, value: "")
        } else if isVerb("find", 3...3) {
            guard let comparison = MPDStickerComparison(rest[1]) else { throw MPDFailure(.argument, "bad operator") }
            self = .find(folder: uri, name: rest[0], comparison, value: rest[2])
        } else {
            throw MPDFailure(.argument, "bad request")
        }
    }

    /// The song; nil for a search, whose folder need not exist.
    var song: String? {
        switch self {
        case .get(let uri, _), .set(let uri, _, _), .delete(let uri, _), .list(let uri): uri
        case .find: nil
        }
    }
}

extension MPDPlayer {
    private typealias Answer = (Result<MPDAnswer, MPDFailure>) -> Void

    fileprivate func perform(_ request: MPDStickerRequest) throws(MPDFailure) -> MPDStep {
        .later { [self] answer in
            guard let song = request.song, ServiceAddress(song) == nil else { return carryOut(request, answer) }
            query { (result: Result<Bool, MPDFailure>) in
                switch result {
                case .success(true): self.carryOut(request, answer)
                case .success(false): answer(.failure(MPDNumbers.noSuchSong))
                case .failure(let error): answer(.failure(error))
                }
            } _: { database in
                guard let database else { return .failure(.noDatabase) }
                do throws(MPDFailure) { return .success(try database.hasSong(song)) } catch { return .failure(error) }
            }
        }
    }

    private func carryOut(_ request: MPDStickerRequest, _ answer: @escaping Answer) {
        switch request {
        case .set(let uri, let name, let value):
            let sticker = MPDStickerRows.Sticker(uri: uri, name: name, value: value)
            write(answer) { (rows) throws(DatabaseError) in
                try rows.set(sticker) ? nil : MPDFailure(.exists, "there are too many stickers")
            }
        case .delete(let uri, let name):
            write(answer) { (rows) throws(DatabaseError) in
                let isThere = try rows.all(of: uri).contains { sticker in
                    name.map { $0.utf8.elementsEqual(sticker.name.utf8) } ?? true
                }
                guard isThere else { return .noSticker }
                try rows.remove(uri, name)
                return nil
            }
        case .get(let uri, let name):
            read(answer) { (rows) throws(DatabaseError) in
                try rows.all(of: uri).filter { $0.name.utf8.elementsEqual(name.utf8) }
            } write: { stickers, output throws(MPDFailure) in
                guard let sticker = stickers.first else { throw .noSticker }
                output.pair("sticker", "\(sticker.name)=\(sticker.value)")
            }
        case .list(let uri):
            read(answer) { (rows) throws(DatabaseError) in
                try rows.all(of: uri)
            } write: { stickers, output in
                for sticker in stickers { output.pair("sticker", "\(sticker.name)=\(sticker.value)") }
            }
        case .find(let folder, let name, let comparison, let value):
            read(answer) { (rows) throws(DatabaseError) in
                try rows.find(name, in: folder, comparison.map { ($0, value) })
            } write: { stickers, output in
                for sticker in stickers {
                    output.file(sticker.uri)
                    output.pair("sticker", "\(sticker.name)=\(sticker.value)")
                }
            }
        }
    }

    /// Changes stickers, and answers when the change is on the medium.
    private func write(
        _ answer: @escaping Answer,
        _ body: @escaping @Sendable (MPDStickerRows) throws(DatabaseError) -> MPDFailure?
    ) {
        // Safe: the storage thread passes it back to the loop and does not call it.
        nonisolated(unsafe) let answer = answer
        let refused = Refusal()
        daemon.environment.storage.write(answerOn: daemon.loop) { (database) throws(DatabaseError) in
            refused.failure = try body(MPDStickerRows(database))
        } answer: { [self] error in
            if let error { return answer(.failure(MPDFailure(.system, error.description))) }
            if let failure = refused.failure { return answer(.failure(failure)) }
            notify(.sticker, nil)
            answer(.success(.output(MPDOutput())))
        }
    }

    /// Why the rows were not changed.
    // @unchecked: the storage thread sets it before it posts the answer to the loop.
    private final class Refusal: @unchecked Sendable { var failure: MPDFailure? }

    private func read(
        _ answer: @escaping Answer,
        _ body: @escaping @Sendable (MPDStickerRows) throws(DatabaseError) -> [MPDStickerRows.Sticker],
        write: @escaping @Sendable ([MPDStickerRows.Sticker], inout MPDOutput) throws(MPDFailure) -> Void
    ) {
        // Safe: the storage thread passes it back to the loop and does not call it.
        nonisolated(unsafe) let answer = answer
        let loop = daemon.loop
        daemon.environment.storage.query { database in
            let result: Result<MPDAnswer, MPDFailure>
            do throws(DatabaseError) {
                let stickers = try database.map { (database) throws(DatabaseError) in
                    try body(MPDStickerRows(database))
                }
                var output = MPDOutput()
                do throws(MPDFailure) {
                    try write(stickers ?? [], &output)
                    result = .success(.output(output))
                } catch {
                    result = .failure(error)
                }
            } catch {
                result = .failure(MPDFailure(.system, error.description))
            }
            loop.post { answer(result) }
        }
    }
}

extension MPDDatabase {
    /// Whether a URI is a song of the library.
    fileprivate func hasSong(_ uri: String) throws(MPDFailure) -> Bool {
        guard let path = paths.path(ofURI: uri) else { return false }
        return try read { (index) throws(DatabaseError) in try MPDReader(index, paths).song(at: path) } != nil
    }
}

extension MPDFailure {
    fileprivate static let noSticker = MPDFailure(.noSuchObject, "no such sticker")
}
