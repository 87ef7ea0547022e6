import Database
import PCM
import Platform

/// The measured loudness of local files, from the state's database.
///
/// Thread: any that may block on the medium; not the storage thread.
public final class MeasuredLoudness: Sendable {
    /// How long a product waits for the database, in milliseconds. A slow medium must not delay the music any longer.
    private static let patience = 1000

    private let storage: StorageThread

    /// - Parameter storage: its modules include `LoudnessRows.schema`.
    public init(_ storage: StorageThread) { self.storage = storage }

    /// Returns the loudness of the file at `path`; nil when it was not measured, or has changed since.
    func replayGain(of path: String) -> ReplayGain? {
        do throws(SystemError) {
            let file = try MusicFileVersion(at: path)
            let answer = Answer()
            let arrival = try Cancellation()
            storage.query { database in
                answer.set(Self.read(file, database))
                arrival.cancel()
            }
            if !arrival.wait(milliseconds: Self.patience) {
                Log.warning("\(path) plays without its measured loudness: the database has not answered in time")
            }
            return answer.value
        } catch {
            // Opening the file reports it.
            return nil
        }
    }

    private static func read(_ file: MusicFileVersion, _ database: Database?) -> ReplayGain? {
        guard let database else { return nil }
        do throws(DatabaseError) { return try LoudnessRows(database).replayGain(of: file) } catch {
            Log.warning("the measured loudness cannot be read: \(error)")
            return nil
        }
    }

    /// A value that the storage thread sets.
    /// `@unchecked Sendable` is safe because `lock` guards it.
    private final class Answer: @unchecked Sendable {
        private let lock = Lock()
        private var stored: ReplayGain?

        var value: ReplayGain? { lock.withLock { stored } }
        func set(_ value: ReplayGain?) { lock.withLock { stored = value } }
    }
}
