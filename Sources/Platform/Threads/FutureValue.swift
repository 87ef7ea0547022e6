/// A value from another thread, for which a thread waits.
///
///     let answer = FutureValue<Int>()
///     storage.query { answer.set(count($0)) }
///     let count = answer.wait()
///
/// Thread: any.
/// `@unchecked Sendable` is safe because `condition` guards the value.
package final class FutureValue<Value>: @unchecked Sendable {
    private let condition = Condition()
    private var value: Value?

    package init() {}

    package func set(_ value: Value) { condition.update { self.value = value } }

    /// Blocks until the value is set.
    package func wait() -> Value {
        condition.wait { value != nil }
        return value!
    }
}
