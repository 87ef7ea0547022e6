/// A question that takes its time and is asked again whenever something has changed: of many changes while an answer is
/// on its way, only the last one asks again.
struct RepeatedLook {
    private var isLooking = false
    private var hasChanged = false

    /// Something has changed.
    /// - Returns: whether to ask now.
    mutating func begin() -> Bool {
        hasChanged = isLooking
        defer { isLooking = true }
        return !isLooking
    }

    /// The answer is there.
    /// - Returns: whether to ask again: call `begin`.
    mutating func end() -> Bool {
        isLooking = false
        return hasChanged
    }
}
