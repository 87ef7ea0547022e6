import Platform
import Player

/// A request about offline copies and downloads, independent of the protocol.
public enum DownloadRequest: Equatable, Sendable {
    /// Downloads these addresses.
    case add([String], priority: Int)
    /// Removes offline copies and downloads; nil for all.
    case remove([String]?)
    /// Cancels downloads, or all for nil. Offline copies stay.
    case cancel([String]?)
    /// Pauses downloads; nil for all.
    case pause([String]?)
    /// Resumes paused and failed downloads; nil for all.
    case resume([String]?)
    case status
    /// Lists the downloads after this number, in the order of their requests.
    case downloads(after: Int64)
    /// Lists the offline copies after this address, in the order of the addresses.
    case items(after: String)
    /// Reads the whole offline copy of a product.
    case verify(String)
}

/// The answer to a request about offline copies and downloads.
package enum DownloadReply: Equatable {
    /// The number of products that were changed, and of those that were already as requested.
    case changed(count: Int, unchanged: Int)
    case status(OfflineEngine.Status)
    case downloads([OfflineEntry], next: Int64?)
    case items([OfflineEntry], next: String?)
    case verified(isWhole: Bool)
    /// The copy cannot be read now. Nothing has changed. The reason is for the user.
    case unreadable(reason: String)
}

/// Carries out requests about offline copies and downloads.
///
/// Thread: the daemon's. Answers follow later on the same thread.
struct DownloadExecution {
    typealias Answer = (Result<DownloadReply, RemoteFailure>) -> Void

    private static let pageLimit = 100

    /// The engine; nil without a content service, and when there is a `problem`.
    let engine: OfflineEngine?
    let loop: EventLoop
    /// Why there is no offline engine although there is a content service, for the user.
    var problem: String?

    /// - Returns: a closure that cancels work that only this client needs; nil when there is no such work.
    @discardableResult
    func perform(_ request: DownloadRequest, _ answer: @escaping Answer) -> (() -> Void)? {
        guard let engine else {
            let failure =
                problem.map { RemoteFailure(.system, $0) }
                ?? RemoteFailure(
                    .noService, "there can be no offline copies: no content service is configured ([service] url)")
            answer(.failure(failure))
            return nil
        }
        // Safe: the engine's thread passes it back to the loop and does not call it.
        nonisolated(unsafe) let unsafeAnswer = answer
        let loop = loop
        let reply: @Sendable (Result<DownloadReply, RemoteFailure>) -> Void = { result in
            loop.post { unsafeAnswer(result) }
        }
        switch request {
        case .add(let addresses, let priority):
            engine.checkRoom(for: addresses.map { Self.product($0) }) { limit in
                if let limit { return reply(.failure(.downloadsFull(limit: limit))) }
                Self.each(addresses, of: engine, reply) { engine.offline($0, priority: priority, $1) }
            }
        case .remove(nil): engine.deleteAllOfflines { reply(Self.reply($0)) }
        case .remove(let addresses?): Self.each(addresses, of: engine, reply) { engine.deleteOffline($0, $1) }
        case .cancel(nil): engine.cancel(nil) { reply(Self.reply($0)) }
        case .cancel(let addresses?): Self.each(addresses, of: engine, reply) { engine.cancel($0, $1) }
        case .pause(nil): engine.pause(nil) { reply(Self.reply($0)) }
        case .pause(let addresses?): Self.each(addresses, of: engine, reply) { engine.pause($0, $1) }
        case .resume(nil): engine.resume(nil) { reply(Self.reply($0)) }
        case .resume(let addresses?): Self.each(addresses, of: engine, reply) { engine.resume($0, $1) }
        case .status:
            engine.status { status in
                reply(status.map { .success(.status($0)) } ?? .failure(Self.unreadable))
            }
        case .downloads(let number):
            engine.downloads(after: number, limit: Self.pageLimit) { entries, next in
                reply(entries.map { .success(.downloads($0, next: next)) } ?? .failure(Self.unreadable))
            }
        case .items(let address):
            engine.items(after: address, limit: Self.pageLimit) { entries, next in
                reply(entries.map { .success(.items($0, next: next)) } ?? .failure(Self.unreadable))
            }
        case .verify(let address):
            let check = engine.verify(Self.product(address)) { reply(Self.reply(to: address, $0)) }
            return check.map { check in { check.cancel() } }
        }
        return nil
    }

    private static func reply(
        to address: String, _ result: OfflineVerification
    ) -> Result<DownloadReply, RemoteFailure> {
        switch result {
        case .noCopy: .failure(RemoteFailure(.noSuchEntry, "\(address): it has no offline copy"))
        case .whole: .success(.verified(isWhole: true))
        case .damaged: .success(.verified(isWhole: false))
        case .unreadable(let reason): .success(.unreadable(reason: reason))
        case .unlisted: .failure(unreadable)
        case .stopped: .failure(.ending)
        }
    }

    private static let unreadable = RemoteFailure(.system, "the list of offline copies cannot be read; see the log")

    private static func notOfService(_ address: String) -> RemoteFailure {
        RemoteFailure(.notOfService, "\(address): only products of the service are downloaded, like tonearm:track/ID")
    }

    /// Returns the product of an address. Messages about it name the address.
    private static func product(_ address: String) -> MediaProduct {
        let type = ServiceAddress(address)?.productType ?? .track
        return MediaProduct(productType: type, productId: address, referenceId: address)
    }

    /// The reply to a request for all products.
    private static func reply(_ change: OfflineEngine.Change) -> Result<DownloadReply, RemoteFailure> {
        if case .failed(let reason) = change { return .failure(RemoteFailure(.system, reason)) }
        return .success(.changed(count: change == .changed ? 1 : 0, unchanged: 0))
    }

    /// Changes each of the addresses. Any thread. A line may name thousands of addresses, so the engine's thread
    /// handles a few at a time.
    private static func each(
        _ addresses: [String], of engine: OfflineEngine,
        _ reply: @escaping @Sendable (Result<DownloadReply, RemoteFailure>) -> Void,
        _ change: @escaping @Sendable (MediaProduct, @escaping @Sendable (OfflineEngine.Change) -> Void) -> Void
    ) {
        if let other = addresses.first(where: { ServiceAddress($0) == nil }) {
            return reply(.failure(notOfService(other)))
        }
        let count = Tally(addresses.count)
        engine.inTurns(addresses.map { product($0) }) { product in
            change(product) { result in
                if case .failed(let reason) = result { count.failure = RemoteFailure(.system, reason) }
                if case .full(let limit) = result { count.failure = .downloadsFull(limit: limit) }
                guard let total = count.add(result == .changed) else { return }
                if let failure = count.failure { return reply(.failure(failure)) }
                reply(.success(.changed(count: total, unchanged: addresses.count - total)))
            }
        }
    }
}

/// Counts answers until all have arrived.
/// `@unchecked Sendable` is safe because the engine's thread alone uses it.
private final class Tally: @unchecked Sendable {
    private var missing: Int
    private var count = 0
    var failure: RemoteFailure?

    init(_ missing: Int) { self.missing = missing }

    /// - Returns: the count after the last answer; nil before.
    func add(_ isCounted: Bool) -> Int? {
        missing -= 1
        if isCounted { count += 1 }
        return missing == 0 ? count : nil
    }
}
