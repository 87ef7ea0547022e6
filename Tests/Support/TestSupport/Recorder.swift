import Platform

/// A record of events, in order; from any thread.
// @unchecked: `lock` guards the mutable state.
public final class Recorder<Element: Sendable>: @unchecked Sendable {
    private let lock = Lock()
    private var recorded: [Element] = []

    public init() {}

    public func record(_ element: Element) { lock.withLock { recorded.append(element) } }
    public var elements: [Element] { lock.withLock { recorded } }
}
