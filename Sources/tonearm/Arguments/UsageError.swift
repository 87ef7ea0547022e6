/// A wrong command line.
struct UsageError: Error, Equatable {
    /// What is wrong and, if known, what to write instead.
    var message: String

    init(_ message: String) { self.message = message }
}
