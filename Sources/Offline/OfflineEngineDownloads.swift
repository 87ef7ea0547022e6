import Database
import Platform
import Playback

/// Downloads by hand: pause, resume and cancel.
extension OfflineEngine {
    /// Pauses the downloads of a product, or all, until `resume`. Their progress stays.
    public func pause(_ mediaProduct: MediaProduct?, _ answer: @escaping @Sendable (Change) -> Void) {
        set(.paused, from: [.queued], mediaProduct) { [conductor] product, change in
            guard change == .changed else { return answer(change) }
            if let product { conductor.downloads.withdrawn(product) } else { conductor.downloads.allWithdrawn() }
            answer(change)
            // A paused download does not wait for room any more.
            conductor.downloads.spaceFreed()
        }
    }

    /// Resumes the paused and failed downloads of a product, or all. Those that wait for the service are retried at
    /// once.
    public func resume(_ mediaProduct: MediaProduct?, _ answer: @escaping @Sendable (Change) -> Void) {
        set(.queued, from: [.paused, .failed], mediaProduct) { [conductor] product, change in
            answer(change)
            if change == .changed { conductor.downloads.spaceFreed() }
            // This includes downloads that wait for room: their content may have become smaller.
            if change == .changed || change == .unchanged { conductor.downloads.askedAgain(product) }
        }
    }

    /// Cancels the download of a product, or all, and removes its progress. An earlier offline copy stays. `.cancelled`
    /// or `.allCancelled` follows.
    public func cancel(_ mediaProduct: MediaProduct?, _ answer: @escaping @Sendable (Change) -> Void) {
        guard let mediaProduct else { return cancelAll(answer) }
        guard let product = ServiceAddress(mediaProduct.productId) else { return answer(.notOfService) }
        offlining.store.write(answerOn: loop) { (rows) throws(DatabaseError) in
            try rows.cancel(product)
        } _: { [conductor, store = offlining.store] result in
            guard case .success(let cancelled?) = result else { return answer(Change(result.map { $0 != nil })) }
            conductor.downloads.withdrawn(product)
            store.storage.perform { store.removeFiles(cancelled.contents) }
            answer(.changed)
            conductor.bus.send(.cancelled(referenceId: cancelled.referenceId))
            conductor.downloads.spaceFreed()
        }
    }

    private func cancelAll(_ answer: @escaping @Sendable (Change) -> Void) {
        offlining.store.write(answerOn: loop) { (rows) throws(DatabaseError) in
            try rows.cancelAll()
        } _: { [conductor, store = offlining.store] result in
            guard case .success(true) = result else { return answer(Change(result)) }
            conductor.downloads.allWithdrawn()
            ContentSweep(store, report: { _ in }).start()
            answer(.changed)
            conductor.bus.send(.allCancelled)
            conductor.downloads.spaceFreed()
        }
    }

    private func set(
        _ state: QueuedDownload.State, from former: [QueuedDownload.State], _ mediaProduct: MediaProduct?,
        _ answer: @escaping @Sendable (ServiceAddress?, Change) -> Void
    ) {
        var product: ServiceAddress?
        if let mediaProduct {
            product = ServiceAddress(mediaProduct.productId)
            if product == nil { return answer(nil, .notOfService) }
        }
        offlining.store.write(answerOn: loop) { [product] (rows) throws(DatabaseError) in
            try rows.setState(state, from: former, of: product)
        } _: { [product] result in
            answer(product, Change(result.map { $0 > 0 }))
        }
    }
}
