import Player

/// What is played when: events of the engine and wishes of the listener in, the next step out.
///
/// Messages of the engine may be about what was before the last `load`; they change nothing.
struct PlayQueue {
    enum Step: Equatable {
        /// Make this the active product.
        case load(MediaProduct)
        /// Go on with what was set as next.
        case skipToNext
        /// Let this follow the active product; nil for nothing.
        case setNext(MediaProduct?)
        /// Go back to the beginning of the active product.
        case restart
        /// All is played.
        case finish
        case nothing
    }

    /// Further in than this, "previous" means the beginning of what plays.
    private static let restartLimit = 3.0

    private struct Entry {
        let index: Int
        let product: MediaProduct
    }

    private let paths: [String]
    /// What plays, or was loaded to.
    private var current: Entry?
    /// What the engine knows as next.
    private var next: Entry?
    /// No message about `current` has come yet.
    private var isAwaited = false
    /// What was played when the engine was asked to skip to `current`, until it has.
    private var skipped: MediaProduct?
    /// What cannot even be begun.
    private var unplayable: Set<Int> = []
    private var lastReference = 0

    init(_ paths: [String]) { self.paths = paths }

    /// The first step.
    mutating func start() -> Step { load(after: -1) }

    /// The engine's transition to `active`; nil when the last product has ended.
    mutating func heard(_ active: MediaProduct?) -> Step {
        guard let active else { return isAwaited ? .nothing : .finish }
        if let next, next.product == active {
            current = next
        } else if current?.product != active {
            return .nothing
        }
        isAwaited = false
        skipped = nil
        next = entry(current.flatMap { playable(after: $0.index) })
        return .setNext(next?.product)
    }

    /// The engine's error about `product`, after which it is idle.
    mutating func failed(_ product: MediaProduct?) -> Step {
        guard let current, let product else { return .nothing }
        // It failed before the engine could skip it, and nothing was left to skip to.
        if product == skipped { return load(current.index) }
        if current.product == product {
            if isAwaited { unplayable.insert(current.index) }
            return load(after: current.index)
        }
        guard let next, next.product == product else { return .nothing }
        unplayable.insert(next.index)
        return load(after: next.index)
    }

    /// The listener has heard enough of this one.
    mutating func skip() -> Step {
        guard let current else { return .nothing }
        guard let next else { return load(after: current.index) }
        skipped = current.product
        self.current = next
        self.next = nil
        isAwaited = true
        return .skipToNext
    }

    /// The listener wants to hear this one again, or the one before.
    /// - Parameter position: in what is heard, in seconds.
    mutating func goBack(from position: Double) -> Step {
        guard let current else { return .nothing }
        // What was asked for and is not heard yet is at its beginning.
        let position = isAwaited ? 0 : position
        let before = paths.indices.prefix(current.index).last { !unplayable.contains($0) }
        guard position <= Self.restartLimit, let before else { return .restart }
        return load(before)
    }

    private func playable(after index: Int) -> Int? {
        paths.indices.dropFirst(index + 1).first { !unplayable.contains($0) }
    }

    private mutating func load(after index: Int) -> Step { load(playable(after: index)) }

    private mutating func load(_ index: Int?) -> Step {
        next = nil
        skipped = nil
        current = entry(index)
        isAwaited = current != nil
        return current.map { .load($0.product) } ?? .finish
    }

    /// Each request has a reference of its own, so that messages about an earlier one are known as such.
    private mutating func entry(_ index: Int?) -> Entry? {
        guard let index else { return nil }
        lastReference += 1
        let product = MediaProduct(productType: .track, productId: paths[index], referenceId: "\(lastReference)")
        return Entry(index: index, product: product)
    }
}
