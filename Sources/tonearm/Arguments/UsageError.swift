/// A command line that says nothing that can be done.
struct UsageError: Error, Equatable {
    /// What is wrong and, where it can be told, what is right.
    var message: String

    init(_ message: String) { self.message = message }
}
