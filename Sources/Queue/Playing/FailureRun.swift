import Player

/// Entries that have failed in a row. Sound ends the run, and so does the choice of another entry.
struct FailureRun {
    private(set) var count = 0
    /// The number of failures without content among them.
    private(set) var countWithoutContent = 0
    /// The first entry whose content did not arrive, its position in seconds, and the error.
    private(set) var withoutContent: (entry: EntryID, position: Double, error: PlayerError)?

    mutating func add(_ entry: EntryID, at position: Double, _ error: PlayerError, _ failure: EntryFailure) {
        count += 1
        guard failure == .ofContent else { return }
        countWithoutContent += 1
        if withoutContent == nil { withoutContent = (entry, position, error) }
    }
}
