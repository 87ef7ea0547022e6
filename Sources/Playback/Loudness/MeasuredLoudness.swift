import Database
import Media
import PCM
import Platform

/// The measured loudness of local files, from the state's database.
///
/// Thread: any that may block on the medium; not the storage thread.
public final class MeasuredLoudness: Sendable {
    /// How long a product waits for the database, in milliseconds. A slow medium must not delay the music longer than
    /// this.
    private static let patience = 1000

    private let storage: StorageThread

    /// - Parameter storage: its modules include `LoudnessRows.schema`.
    public init(_ storage: StorageThread) { self.storage = storage }

    /// Returns the loudness of the file at `path`, or of the same sound in another file; nil when it was not measured.
    /// - Parameter properties: the properties of the file's decoder.
    func replayGain(of path: String, _ properties: AudioProperties, _ cancellation: Cancellation) -> ReplayGain? {
        guard let file = try? MusicFileVersion(at: path) else {
            // Opening the file reports the error.
            return nil
        }
        switch look(for: file) {
        case .row(let gain, let content):
            if content == 0 { note(file.identified(properties, cancellation: cancellation)) }
            return gain
        case .otherRows:
            let identified = file.identified(properties, cancellation: cancellation)
            if identified.content != 0, case .row(let gain, _) = look(for: identified) { return gain }
            return nil
        case nil: return nil
        }
    }

    /// The answer of the database.
    private enum Finding {
        case row(ReplayGain, content: Int64)
        /// Other files were measured, but not this one.
        case otherRows
    }

    private func look(for file: MusicFileVersion) -> Finding? {
        guard let arrival = try? Cancellation() else { return nil }
        let answer = Answer()
        storage.query { database in
            answer.set(Self.read(file, database))
            arrival.cancel()
        }
        if !arrival.wait(milliseconds: Self.patience) {
            Log.warning("\(file.path) plays without its measured loudness: the database has not answered in time")
        }
        return answer.value
    }

    private static func read(_ file: MusicFileVersion, _ database: Database?) -> Finding? {
        guard let database else { return nil }
        do throws(DatabaseError) {
            let rows = LoudnessRows(database)
            if let row = try rows.row(of: file) { return .row(row.replayGain, content: row.content) }
            return try rows.isEmpty() ? nil : .otherRows
        } catch {
            Log.warning("the measured loudness cannot be read: \(error)")
            return nil
        }
    }

    /// Completes a row of an earlier version.
    private func note(_ file: MusicFileVersion) {
        if file.content == 0 { return }
        storage.write(urgency: .canWait, answerOn: nil) { (database) throws(DatabaseError) in
            try LoudnessRows(database).note(file.content, of: file)
        } answer: { error in
            if let error { Log.warning("the measured loudness cannot be written: \(error)") }
        }
    }

    /// A value that the storage thread sets.
    /// `@unchecked Sendable` is safe because `lock` guards it.
    private final class Answer: @unchecked Sendable {
        private let lock = Lock()
        private var stored: Finding?

        var value: Finding? { lock.withLock { stored } }
        func set(_ value: Finding?) { lock.withLock { stored = value } }
    }
}
