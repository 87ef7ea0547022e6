import Platform
import Player

/// The covers of the content service's products: of offline copies from their files, others over the network.
///
/// Thread: any that may block. `@unchecked Sendable` is safe because `condition` guards the turns.
package final class FetchedCovers: @unchecked Sendable {
    /// The maximum number of clients that wait at once, and the additional nanoseconds that each may wait for its turn.
    private static let mostWaiting = 32
    private static let morePatience: Int64 = 2_000_000_000

    private let source: any CoverSource
    private let known: KnownCovers
    private let clock: any MonotonicClock
    private let condition = Condition()
    private var turns = CoverTurns()

    package init(_ source: any CoverSource, _ known: KnownCovers, clock: any MonotonicClock) {
        (self.source, self.known, self.clock) = (source, known, clock)
    }

    private func identity(of entry: CatalogueEntry) -> PictureIdentity? {
        PictureIdentity(of: ["product", source.service, entry.text])
    }

    /// Returns the cover of an offline copy; nil without one.
    package func copy(of entry: CatalogueEntry) -> StoredPicture? {
        source.copy(of: entry).flatMap { StoredPicture(ofCopy: $0) }
    }

    /// Returns the picture that a product had last; nil when none is known.
    package func picture(of entry: CatalogueEntry) -> (picture: PictureIdentity, isRecent: Bool)? {
        identity(of: entry).flatMap { known.picture(of: $0) }
    }

    /// Fetches a cover, once for all clients that request it now.
    package func fetch(_ entry: CatalogueEntry) -> CoverOutcome {
        let product = entry.text
        let now = clock.now()
        if let failure = condition.update({ turns.failure(of: product, at: now) }) { return .failed(failure) }
        guard condition.update({ turns.waiting < Self.mostWaiting }) else { return Self.busy }
        condition.update { turns.arrive(product) }
        condition.wait(atMost: Int64(source.patience) * 1_000_000 + Self.morePatience) { turns.isReady(product) }
        if condition.update({ turns.begin(product) }) {
            let outcome = fetchNow(entry)
            let now = clock.now()
            condition.update { turns.finish(product, outcome, at: now) }
        }
        return condition.update { turns.leave(product) } ?? Self.busy
    }

    private static let busy = CoverOutcome.failed(.away("other covers are fetched before it"))

    private func fetchNow(_ entry: CatalogueEntry) -> CoverOutcome {
        let product = identity(of: entry)
        do throws(CoverFailure) {
            let picture = try source.fetch(entry)
            if let product, let identity = PictureIdentity(digest: picture.digest) { known.set(identity, of: product) }
            return .picture(picture)
        } catch {
            if error == .none, let product { known.remove(product) }
            if error.lasts, error != .none { Log.info("\(entry.text): there is no cover: \(error.reason)") }
            return .failed(error)
        }
    }

    /// Ends all waits. Idempotent.
    package func end() {
        condition.update { turns.end() }
        source.end()
    }
}
