import Platform
import Player

/// A request about products that are kept of the content service, independent of the protocol.
public enum KeepingRequest: Equatable, Sendable {
    /// These addresses are downloaded and kept.
    case add([String], priority: Int)
    /// nil: all.
    case remove([String]?)
    /// Ends downloads, and leaves copies alone; nil: all.
    case cancel([String]?)
    /// Downloads; nil: all.
    case pause([String]?)
    /// Downloads that were paused or have failed; nil: all.
    case resume([String]?)
    case status
    /// The downloads behind this number, in the order of their requests.
    case jobs(after: Int64)
    /// What is kept behind this address, in the order of the addresses.
    case items(after: String)
    /// Reads all of what is kept of a product.
    case verify(String)
}

/// The answer to a request about kept products.
enum KeepingReply: Equatable {
    /// How many products were changed, and how many were as wanted already.
    case changed(count: Int, unchanged: Int)
    case status(OfflineEngine.Status)
    case jobs([OfflineEntry], next: Int64?)
    case items([OfflineEntry], next: String?)
    case verified(isWhole: Bool)
    /// It cannot be read now, and nothing has changed; the reason is for a person.
    case unreadable(reason: String)
}

/// Carries out requests about kept products.
///
/// Thread: the daemon's. Answers come later, there.
struct KeepingExecution {
    typealias Answer = (Result<KeepingReply, RemoteFailure>) -> Void

    private static let pageLimit = 100

    /// nil without a content service, or with `problem`.
    let engine: OfflineEngine?
    let loop: EventLoop
    /// Why nothing can be kept although there is a content service, for a person.
    var problem: String?

    /// - Returns: ends work that only the client waits for; nil where there is none.
    @discardableResult
    func perform(_ request: KeepingRequest, _ answer: @escaping Answer) -> (() -> Void)? {
        guard let engine else {
            let failure =
                problem.map { RemoteFailure(.system, $0) }
                ?? RemoteFailure(.noService, "nothing can be kept: no content service is configured ([service] url)")
            answer(.failure(failure))
            return nil
        }
        // Safe: it goes through the engine's thread and comes back to the loop without being called there.
        nonisolated(unsafe) let unsafeAnswer = answer
        let loop = loop
        let reply: @Sendable (Result<KeepingReply, RemoteFailure>) -> Void = { result in
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
        case .jobs(let number):
            engine.jobs(after: number, limit: Self.pageLimit) { entries, next in
                reply(entries.map { .success(.jobs($0, next: next)) } ?? .failure(Self.unreadable))
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
    ) -> Result<KeepingReply, RemoteFailure> {
        switch result {
        case .notKept: .failure(RemoteFailure(.noSuchEntry, "\(address): it is not kept"))
        case .whole: .success(.verified(isWhole: true))
        case .damaged: .success(.verified(isWhole: false))
        case .unreadable(let reason): .success(.unreadable(reason: reason))
        case .unlisted: .failure(unreadable)
        case .stopped: .failure(.ending)
        }
    }

    private static let unreadable = RemoteFailure(.system, "the list of kept products cannot be read; see the log")

    private static func notOfService(_ address: String) -> RemoteFailure {
        RemoteFailure(.notOfService, "\(address): only products of the service are kept, like tonearm:track/ID")
    }

    /// A message about a product names it.
    private static func product(_ address: String) -> MediaProduct {
        let type = ServiceAddress(address)?.productType ?? .track
        return MediaProduct(productType: type, productId: address, referenceId: address)
    }

    /// To a request for all of them.
    private static func reply(_ change: OfflineEngine.Change) -> Result<KeepingReply, RemoteFailure> {
        if case .failed(let reason) = change { return .failure(RemoteFailure(.system, reason)) }
        return .success(.changed(count: change == .changed ? 1 : 0, unchanged: 0))
    }

    /// Any thread. A line may name thousands: they have their turns on the engine's thread.
    private static func each(
        _ addresses: [String], of engine: OfflineEngine,
        _ reply: @escaping @Sendable (Result<KeepingReply, RemoteFailure>) -> Void,
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

/// Counts answers until all are there.
/// `@unchecked Sendable` is safe because the engine's thread alone uses it.
private final class Tally: @unchecked Sendable {
    private var missing: Int
    private var count = 0
    var failure: RemoteFailure?

    init(_ missing: Int) { self.missing = missing }

    /// - Returns: the count, with the last answer.
    func add(_ isCounted: Bool) -> Int? {
        missing -= 1
        if isCounted { count += 1 }
        return missing == 0 ? count : nil
    }
}
