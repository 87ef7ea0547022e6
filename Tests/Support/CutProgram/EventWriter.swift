import CLinux
import Database
import Events
import FileCalls
import Platform

/// Records three sessions, delivers their events, and is cut off on the way:
/// `CutProgram events FOLDER CALL keep|lose`.
///
/// `CALL` is the file call at which the process ends as in a power cut; -1 for none. `begun ID` on stdout means that
/// the session is on the medium, `sent ID SESSION NAME` that the service has taken the event. The service confirms an
/// event after it has taken it, so a cut may come between the two. With `CALL` -2 only the work of a start is done:
/// sessions that were left open are ended, and all events are delivered.
enum EventWriter {
    static func run(_ words: [String]) {
        guard words.count == 3, let call = Int(words[1]) else { exit(2) }
        if words[2] == "lose" { file_calls_lose_unsynced() }
        file_calls_cut(call < 0 ? .max : call)
        do {
            try write(to: words[0], isStartOnly: call == -2)
        } catch {
            CutProgram.say("failed \(error)")
            exit(3)
        }
        CutProgram.say("calls \(file_calls_count())")
    }

    private static func write(to folder: String, isStartOnly: Bool) throws {
        let storage = try StorageThread("\(folder)/tonearm.db", modules: [OutboxRows.schema])
        storage.join()
        let device = EventDevice(
            hardwarePlatform: "x", operatingSystem: "x", operatingSystemVersion: "x", client: "x", version: "x")
        let recorder = SessionRecorder(.outbox(storage), EventForm(device, consent: Set(EventCategory.allCases)))
        recorder.endLeftSessions()
        deliver(storage)
        for number in isStartOnly ? 0..<0 : 0..<3 { play(number, recorder, storage) }
        recorder.close()
        storage.leave()
    }

    private static func play(_ number: Int, _ recorder: SessionRecorder, _ storage: StorageThread) {
        let id = SystemRandomSource().uuid()
        var milliseconds: Int64 = 1_000_000
        func time() -> EventTime {
            milliseconds += 1000
            return EventTime(milliseconds: milliseconds)
        }
        recorder.begin(SessionStart(id: id, time: time(), kind: .playback, productId: "\(number)"))
        settle(storage)
        CutProgram.say("begun \(id)")
        let kinds: [SessionFact.Kind] = [
            .fetched(SessionFetch(.playbackInfo, milliseconds: 10, .complete)),
            .opened(SessionContent(productId: "\(number)", duration: 60)), .requested, .started(position: 0),
            .reached(position: 30), .stopped(position: 40, .pause), .started(position: 40),
            .ended(position: 60, .complete),
        ]
        for (index, kind) in kinds.enumerated() {
            recorder.add(SessionFact(time(), kind), to: id)
            // Some facts share a transaction, others have their own.
            if (index + number).isMultiple(of: 2) { settle(storage) }
            if index == 4 { deliver(storage) }
        }
        settle(storage)
        deliver(storage)
    }

    /// Waits until everything that was posted is on the medium.
    private static func settle(_ storage: StorageThread) {
        let done = Condition()
        // Safe because both threads use it only under the lock of `done`.
        nonisolated(unsafe) var isDone = false
        storage.write(answerOn: nil) { (_) throws(DatabaseError) in
        } answer: { _ in
            done.update { isDone = true }
        }
        done.wait { isDone }
    }

    private static func deliver(_ storage: StorageThread) {
        settle(storage)
        while true {
            let events = read(storage)
            if events.isEmpty { return }
            for event in events {
                let payload = try? JSONValue.parse(event.body)["payload"]
                let session = payload?["streamingSessionId"]?.string ?? payload?["playbackSessionId"]?.string ?? "-"
                CutProgram.say("sent \(event.id) \(session) \(event.name)")
            }
            let numbers = events.map { $0.number }
            storage.write(answerOn: nil) { (database) throws(DatabaseError) in
                try OutboxRows(database).confirm(numbers)
            } answer: { _ in
            }
            settle(storage)
        }
    }

    private static func read(_ storage: StorageThread) -> [OutboxRows.Waiting] {
        let done = Condition()
        // Safe because both threads use it only under the lock of `done`.
        nonisolated(unsafe) var events: [OutboxRows.Waiting]?
        storage.query { database in
            let found = database.flatMap { try? OutboxRows($0).oldest(4) } ?? []
            done.update { events = found }
        }
        done.wait { events != nil }
        return events ?? []
    }
}
