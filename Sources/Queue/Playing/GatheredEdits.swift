/// Edits of the queue that were not passed to the engine and the observers yet.
struct GatheredEdits {
    /// The state before the first gathered edit.
    struct Former {
        var current: EntryID?
    }

    /// Whether edits are gathered now.
    var isOn = false
    /// The state before the edits; nil when there are none.
    private var former: Former?

    /// - Parameter current: the current entry before the next edit.
    mutating func note(current: EntryID?) { former = former ?? Former(current: current) }

    /// Returns whether the edits have made another entry current.
    func hasChanged(_ current: EntryID?) -> Bool { former.map { $0.current != current } ?? false }

    /// Returns the state before the edits, and ends them; nil when there are none.
    mutating func take() -> Former? {
        defer { former = nil }
        return former
    }
}
