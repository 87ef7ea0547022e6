import Appliance
import Database
import Library
import Platform

/// Moves the stickers of renamed files. A URI whose music is gone becomes the present one of the same sound in the same
/// music folder: a copy elsewhere is no new name of music on a medium that is away.
///
/// Thread: any; the index is read on the thread of queries.
struct MovedStickers: Sendable {
    let paths: MusicURIs
    let storage: StorageThread
    /// Runs a body on the thread of queries.
    let onQueries: @Sendable (@escaping @Sendable (MusicIndex?) -> Void) -> Void

    /// The URIs that are looked at before the threads of the database and of queries do other work.
    private static let portion = 200

    /// Call it after a scan with changes.
    func run() { run(after: "") }

    /// Moves those after a URI, a portion at a time. A moved one may come again: its music is there.
    private func run(after last: String) {
        storage.query { database in
            guard let database,
                let uris = try? MPDStickerRows(database).uris(after: last, limit: Self.portion),
                let end = uris.last
            else { return }
            onQueries { index in
                guard let index else { return }
                let moves = self.moves(of: uris, index)
                defer { if uris.count == Self.portion { run(after: end) } }
                if moves.isEmpty { return }
                storage.write(urgency: .canWait, answerOn: nil) { (database) throws(DatabaseError) in
                    try MPDStickerRows(database).move(moves)
                } answer: { error in
                    if let error { Log.warning("stickers of renamed files stay behind: \(error.description)") }
                }
            }
        }
    }

    private func moves(of uris: [String], _ index: MusicIndex) -> [(former: String, present: String)] {
        var moves: [(former: String, present: String)] = []
        for uri in uris {
            guard let path = paths.path(ofURI: uri), let place = index.successor(playing: path),
                paths.areInOneFolder(path, place), let present = paths.uri(ofPath: place)
            else { continue }
            moves.append((uri, present))
        }
        return moves
    }
}

extension MusicIndex {
    /// Returns the present path of music whose file is gone; nil when it is there, or nowhere.
    fileprivate func successor(playing path: String) -> String? {
        guard let content = content(playing: path), content != 0 else { return nil }
        do throws(DatabaseError) {
            if try track(playing: path) != nil { return nil }
            return try tracks(TrackQuery(.content(content), order: .latestFirst, page: ListPage(limit: 1)))
                .first?.playedPath
        } catch {
            Log.warning("the library cannot be read: \(error.description)")
            return nil
        }
    }
}
