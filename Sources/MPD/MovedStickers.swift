import Appliance
import Database
import Library
import Platform

/// Moves the stickers of renamed files. A URI whose file is gone is replaced by the URI of a file with the same sound
/// in the same music folder. A copy in another folder does not count, because the original may be on a missing medium.
///
/// Thread: any; the index is read on the thread of queries.
struct MovedStickers: Sendable {
    let paths: MusicURIs
    let storage: StorageThread
    /// Runs a body on the thread of queries.
    let onQueries: @Sendable (@escaping @Sendable (MusicIndex?) -> Void) -> Void

    /// The number of URIs that are processed before the threads of the database and of queries do other work.
    private static let portion = 200

    /// Call it after a scan with changes.
    func run() { run(after: "") }

    /// Moves the stickers after a URI, a portion at a time. A moved sticker may come again, and then stays because its
    /// file exists.
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
    /// Returns the new path of music whose file is gone; nil when the file exists, or has no new path.
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
