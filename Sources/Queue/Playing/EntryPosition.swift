/// The position in the current entry, also while the engine does not report one.
struct EntryPosition {
    /// Whether the engine has announced the entry.
    var isAnnounced = false
    /// The position at which the entry begins, in seconds, while the engine does not report one.
    var start = 0.0
    /// Seeks that the engine has not carried out yet.
    var seeksUnderWay = 0

    /// Returns the position in seconds; after a seek, the target of the seek.
    /// - Parameter heard: the position that the engine reports.
    func position(_ heard: Double?) -> Double { isAnnounced && seeksUnderWay == 0 ? heard ?? start : start }
}
