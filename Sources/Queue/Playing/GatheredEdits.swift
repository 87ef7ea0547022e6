/// Edits of the queue that the engine and the observers have not heard of yet.
struct GatheredEdits {
    /// The state before the first of them.
    struct Former {
        var current: EntryID?
    }

    /// Whether edits are gathered now.
    var isOn = false
    /// nil: there are none.
    private var former: Former?

    /// - Parameter current: the current entry before the next edit.
    mutating func note(current: EntryID?) { former = former ?? Former(current: current) }

    /// Whether another entry has become current.
    func hasChanged(_ current: EntryID?) -> Bool { former.map { $0.current != current } ?? false }

    /// Returns the state before the edits, and ends them; nil when there are none.
    mutating func take() -> Former? {
        defer { former = nil }
        return former
    }
}
