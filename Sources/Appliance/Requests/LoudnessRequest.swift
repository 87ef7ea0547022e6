import Database
import Platform
import Player

/// A request about the measured loudness of files, independent of the protocol.
public enum LoudnessRequest: Equatable, Sendable {
    /// Whether these versions of files were measured.
    case known([MusicFileVersion])
    /// Stores measurements.
    case keep([FileLoudness])
}

/// Carries out requests about measured loudness.
///
/// Thread: the daemon's. Answers follow later on the same thread.
struct LoudnessExecution {
    typealias Answer = (Result<RemoteReply, RemoteFailure>) -> Void

    let storage: StorageThread
    let loop: EventLoop

    func perform(_ request: LoudnessRequest, _ answer: @escaping Answer) {
        // Safe: the storage thread passes it back to the loop and does not call it.
        nonisolated(unsafe) let unsafeAnswer = answer
        let loop = loop
        switch request {
        case .known(let files):
            storage.query { database in
                let known = Self.known(files, database)
                loop.post { unsafeAnswer(known) }
            }
        case .keep(let results):
            storage.write(answerOn: loop) { (database) throws(DatabaseError) in
                try LoudnessRows(database).keep(results)
            } answer: { error in
                if let error {
                    unsafeAnswer(.failure(RemoteFailure(.system, "the loudness cannot be stored: \(error)")))
                } else {
                    unsafeAnswer(.success(.done))
                }
            }
        }
    }

    /// Storage thread.
    private static func known(
        _ files: [MusicFileVersion], _ database: Database?
    ) -> Result<RemoteReply, RemoteFailure> {
        guard let database else { return .failure(RemoteFailure(.system, "the state cannot be read; see the log")) }
        do throws(DatabaseError) { return .success(.known(try LoudnessRows(database).known(files))) } catch {
            return .failure(RemoteFailure(.system, "the measured loudness cannot be read: \(error)"))
        }
    }
}
