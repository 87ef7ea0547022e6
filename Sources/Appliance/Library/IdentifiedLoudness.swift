import Database
import Library
import Platform
import Player

/// Completes measured loudness of an earlier version of this program, which belonged to a path alone. The index has the
/// sound of this version of the file.
///
/// Thread: any; the index is read on the thread of queries.
struct IdentifiedLoudness: Sendable {
    /// The music folders.
    let folders: [String]
    let storage: StorageThread
    /// Runs a body on the thread of queries.
    let onQueries: @Sendable (@escaping @Sendable (MusicIndex?) -> Void) -> Void

    /// The rows that are looked at before the threads of the database and of queries do other work.
    private static let portion = 200

    /// Call it after a scan with changes.
    func run() { run(after: 0) }

    /// Power loss here: the next scan completes the other rows.
    private func run(after last: Int64) {
        storage.query { database in
            guard let database,
                let rows = try? LoudnessRows(database).unidentified(after: last, limit: Self.portion),
                let end = rows.last?.number
            else { return }
            onQueries { index in
                guard let index else { return }
                defer { if rows.count == Self.portion { run(after: end) } }
                let found = rows.compactMap { row in
                    content(of: row.file, index).map { (file: row.file, content: $0) }
                }
                if found.isEmpty { return }
                storage.write(urgency: .canWait, answerOn: nil) { (database) throws(DatabaseError) in
                    for (file, content) in found { try LoudnessRows(database).note(content, of: file) }
                } answer: { error in
                    if let error { Log.warning("measured loudness is not completed: \(error.description)") }
                }
            }
        }
    }

    /// Returns the sound of this version of a file. Its path has no links; a music folder may be one.
    private func content(of file: MusicFileVersion, _ index: MusicIndex) -> Int64? {
        var paths = [file.path]
        for folder in folders {
            guard let real = try? Folder.resolved(folder), file.path.utf8.starts(with: "\(real)/".utf8) else {
                continue
            }
            paths.append(folder + String(decoding: file.path.utf8.dropFirst(real.utf8.count), as: UTF8.self))
        }
        for path in paths {
            let stamp = FileStamp(size: file.size, modified: file.modified)
            if let content = try? index.content(of: path, in: stamp) { return content }
        }
        return nil
    }
}
