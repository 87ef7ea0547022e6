/// Recordings and encoded files that many tests use: each is made once in a run. Any thread.
///
///     private static let files = MadeOnce<Data>()
///     let file = try files.value("\(rate) Hz") { try encode() }
public final class MadeOnce<Value: Sendable>: Sendable {
    private let made = Locked<[String: Value]>([:])

    public init() {}

    /// - Parameters:
    ///   - key: everything that the value depends on.
    ///   - make: may be called twice when two threads ask at the same time.
    public func value(_ key: String, _ make: () throws -> Value) rethrows -> Value {
        if let value = made.withLock({ $0[key] }) { return value }
        let value = try make()
        made.withLock { $0[key] = value }
        return value
    }
}
