/// A mistake in the command line.
struct UsageError: Error, Equatable {
    /// The mistake and, if known, the correction.
    var message: String

    init(_ message: String) { self.message = message }
}
