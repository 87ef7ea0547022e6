import Database
import Platform
import Playback

/// Stores how downloads have ended.
///
/// Thread: control.
final class DownloadResults: Sendable {
    typealias Outcome = OfflineSchedule.Outcome

    private let offlining: Offlining
    private let bus: Bus<OfflineMessage>
    private let loop: EventLoop

    init(_ offlining: Offlining, _ bus: Bus<OfflineMessage>, loop: EventLoop) {
        self.offlining = offlining
        self.bus = bus
        self.loop = loop
    }

    /// - Parameter answer: gets the outcome for the schedule, once it is stored.
    func store(_ outcome: Outcome, of download: QueuedDownload, _ answer: @escaping @Sendable (Outcome) -> Void) {
        switch outcome {
        case .complete: checkCopy(download, answer)
        case .failed where download.isAutomatic, .noSpace where download.isAutomatic:
            dropAutomatic(download, outcome, answer)
        case .failed(let error): fail(download, error, answer)
        case .stopped, .noSpace, .noState, .metered, .away, .notStored: answer(outcome)
        }
    }

    /// Checks whether the copy is still there: after a deletion the last message must be `.deleted`.
    private func checkCopy(_ download: QueuedDownload, _ answer: @escaping @Sendable (Outcome) -> Void) {
        offlining.store.read(answerOn: loop) { (rows) throws(DatabaseError) in
            try rows.item(download.product) != nil
        } _: { isThere in
            answer(isThere == false ? .stopped : .complete)
        }
    }

    private func fail(_ download: QueuedDownload, _ error: PlayerError, _ answer: @escaping @Sendable (Outcome) -> Void)
    {
        let time = offlining.clock.estimatedSeconds
        offlining.store.write(answerOn: loop) { (rows) throws(DatabaseError) in
            try rows.fail(download, error.message, at: time)
        } _: { result in
            switch result {
            case .success(true): answer(.failed(error))
            // It was deleted meanwhile: the last message must be `.deleted`.
            case .success(false): answer(.stopped)
            // A failure that cannot be stored must not cause a restart at once.
            case .failure: answer(.notStored(error))
            }
        }
    }

    /// Drops a download that the appliance chose: it neither waits for room nor stays as a failure.
    private func dropAutomatic(
        _ download: QueuedDownload, _ outcome: Outcome, _ answer: @escaping @Sendable (Outcome) -> Void
    ) {
        let store = offlining.store
        store.write(answerOn: loop) { (rows) throws(DatabaseError) in
            try rows.dropAutomatic(download)
        } _: { [self] result in
            guard case .success(let dropped?) = result else {
                // The user has requested it meanwhile.
                if case .failed(let error) = outcome { return fail(download, error, answer) }
                return answer(outcome)
            }
            store.storage.perform { store.removeFiles(dropped.contents) }
            guard outcome == .noSpace else { return answer(outcome) }
            if !dropped.hasCopy { bus.send(.deleted(referenceId: download.referenceId)) }
            answer(.stopped)
        }
    }
}
