import Database
import Library
import Platform
import Player
import Synchronization

/// Completes measured loudness of an earlier version of this program, whose rows contain only a path. The index knows
/// the sound of the current version of the file.
///
/// Thread: any; the index is read on the thread of queries.
final class IdentifiedLoudness: Sendable {
    private typealias Place = (folder: String, real: String)

    private let folders: [String]
    private let storage: StorageThread
    private let onQueries: @Sendable (@escaping @Sendable (MusicIndex?) -> Void) -> Void
    private let isRunning = Atomic(false)

    /// The number of rows that are processed before the threads of the database and of queries do other work.
    private static let portion = 200

    /// - Parameters:
    ///   - folders: the music folders.
    ///   - onQueries: runs a body on the thread of queries.
    init(
        folders: [String], storage: StorageThread,
        onQueries: @escaping @Sendable (@escaping @Sendable (MusicIndex?) -> Void) -> Void
    ) {
        (self.folders, self.storage, self.onQueries) = (folders, storage, onQueries)
    }

    /// Call it after a scan with changes, on the thread of the scan, because it reads the music folders. Does nothing
    /// while an earlier call still runs.
    func run() {
        if isRunning.exchange(true, ordering: .relaxed) { return }
        // The path of a row contains no links, but a music folder may be a link.
        let roots = folders.compactMap { folder in (try? Folder.resolved(folder)).map { (folder: folder, real: $0) } }
        run(after: 0, roots)
    }

    /// Power loss here: the next scan completes the other rows.
    private func run(after last: Int64, _ roots: [Place]) {
        storage.query { [self] database in
            guard let database,
                let rows = try? LoudnessRows(database).unidentified(after: last, limit: Self.portion),
                let end = rows.last?.number
            else { return isRunning.store(false, ordering: .relaxed) }
            onQueries { [self] index in
                guard let index else { return isRunning.store(false, ordering: .relaxed) }
                note(rows.compactMap { row in Self.content(of: row.file, index, roots).map { (row.file, $0) } })
                if rows.count == Self.portion {
                    run(after: end, roots)
                } else {
                    isRunning.store(false, ordering: .relaxed)
                }
            }
        }
    }

    private func note(_ found: [(file: MusicFileVersion, content: Int64)]) {
        if found.isEmpty { return }
        storage.write(urgency: .canWait, answerOn: nil) { (database) throws(DatabaseError) in
            for (file, content) in found { try LoudnessRows(database).note(content, of: file) }
        } answer: { error in
            if let error { Log.warning("measured loudness is not completed: \(error.description)") }
        }
    }

    /// Returns the identity of the sound of this version of a file.
    private static func content(of file: MusicFileVersion, _ index: MusicIndex, _ roots: [Place]) -> Int64? {
        var paths = [file.path]
        for root in roots where file.path.utf8.starts(with: "\(root.real)/".utf8) {
            let rest = file.path.utf8.dropFirst(root.real.utf8.count)
            paths.append(root.folder + String(decoding: rest, as: UTF8.self))
        }
        for path in paths {
            let stamp = FileStamp(size: file.size, modified: file.modified)
            if let content = try? index.content(of: path, in: stamp) { return content }
        }
        return nil
    }
}
