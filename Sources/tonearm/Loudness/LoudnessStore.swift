import Appliance
import Control
import Database
import Platform
import Player

/// Where measured loudness is stored.
///
/// Thread: the main thread; calls block.
protocol LoudnessStore: AnyObject {
    /// Returns the known loudness of each file; nil when neither this version nor its sound was measured.
    func known(_ files: [MusicFileVersion]) throws(LoudnessFailure) -> [KnownLoudness?]
    /// Stores measurements. They are on the medium when this returns.
    /// - Returns: for each measurement the reason why it is not stored, for the user; nil for the others.
    func keep(_ results: [FileLoudness]) throws(LoudnessFailure) -> [String?]
}

/// Why measured loudness cannot be stored.
struct LoudnessFailure: Error {
    let message: String
    let exitCode: Int32
}

/// The database of `tonearm play`, which may use it at the same time.
final class StateLoudness: LoudnessStore {
    private let storage: StorageThread

    /// - Parameter folder: the state folder; nil when there is no home.
    init(_ folder: String?) throws(LoudnessFailure) {
        guard let folder else { throw Self.failure("no home folder: set HOME or XDG_STATE_HOME") }
        do throws(PlayerError) { storage = try Player.openStorage(folder) } catch {
            throw Self.failure(error.message)
        }
        if let problem = storage.problem { throw Self.failure(problem.description) }
        storage.join()
    }

    deinit { storage.leave() }

    func known(_ files: [MusicFileVersion]) throws(LoudnessFailure) -> [KnownLoudness?] {
        let known = try write { (database) throws(DatabaseError) in try LoudnessRows(database).known(files) }
        return known ?? files.map { _ in nil }
    }

    func keep(_ results: [FileLoudness]) throws(LoudnessFailure) -> [String?] {
        _ = try write { (database) throws(DatabaseError) in try LoudnessRows(database).keep(results) }
        return results.map { _ in nil }
    }

    /// Runs `work` on the storage thread, and waits for its end.
    /// - Returns: nil without a state file.
    private func write<Value: Sendable>(
        _ work: @escaping @Sendable (Database) throws(DatabaseError) -> Value
    ) throws(LoudnessFailure) -> Value? {
        let done = FutureValue<Result<Value?, DatabaseError>>()
        storage.transact(answerOn: nil, work) { done.set($0) }
        do throws(DatabaseError) { return try done.wait().get() } catch { throw Self.failure(error.description) }
    }

    private static func failure(_ reason: String) -> LoudnessFailure {
        LoudnessFailure(message: "the loudness cannot be stored: \(reason)", exitCode: ExitCode.failed)
    }
}

/// The daemon's database. The daemon alone writes it, so that it may run meanwhile.
final class DaemonLoudness: LoudnessStore {
    /// The limit of the files in one request, which may have 64 KiB in all.
    private static let batchBytes = 32 << 10
    /// How long the daemon may take to write, in seconds.
    private static let patience = 60

    private let connection: DaemonConnection

    init(_ connection: DaemonConnection) { self.connection = connection }

    func known(_ files: [MusicFileVersion]) throws(LoudnessFailure) -> [KnownLoudness?] {
        var known: [KnownLoudness?] = []
        try send("loudness-known", files.map { LoudnessJSON.value($0) }) { reply in
            for (element, gain) in zip(reply["known"]?.elements ?? [], reply["albumGain"]?.elements ?? []) {
                known.append(element.boolean == true ? KnownLoudness(albumGain: gain.number) : nil)
            }
        }
        guard known.count == files.count else { throw Self.failure(.misunderstood) }
        return known
    }

    func keep(_ results: [FileLoudness]) throws(LoudnessFailure) -> [String?] {
        try send("loudness-keep", results.map { LoudnessJSON.value($0) }) { _ in }
        return results.map { _ in nil }
    }

    /// Sends files in as many requests as they need.
    private func send(
        _ request: String, _ files: [JSONValue], _ receive: (JSONValue) -> Void
    ) throws(LoudnessFailure) {
        var rest = files[...]
        while !rest.isEmpty {
            var bytes = 0
            let batch = rest.prefix { file in
                bytes += file.serializedLengthLimit + 1
                return bytes <= Self.batchBytes || bytes == file.serializedLengthLimit + 1
            }
            rest = rest.dropFirst(batch.count)
            do throws(DaemonFailure) {
                let files = JSONValue.Member("files", .array(Array(batch)))
                receive(try connection.ask(request, [files], patience: Self.patience).value)
            } catch {
                throw Self.failure(error)
            }
        }
    }

    private static func failure(_ failure: DaemonFailure) -> LoudnessFailure {
        LoudnessFailure(message: failure.message, exitCode: failure.exitCode)
    }
}
