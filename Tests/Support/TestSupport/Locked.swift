import Platform

/// A value under a lock.
// @unchecked: `lock` guards the value.
public final class Locked<Value: Sendable>: @unchecked Sendable {
    private let lock = Lock()
    private var current: Value

    public init(_ value: Value) { current = value }

    public var value: Value { lock.withLock { current } }
    public func set(_ value: Value) { lock.withLock { current = value } }
    public func withLock<Result>(_ body: (inout Value) -> Result) -> Result { lock.withLock { body(&current) } }
}
