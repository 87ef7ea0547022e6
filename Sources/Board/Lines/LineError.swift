/// Why a GPIO line cannot be used, with what a person needs to act on it.
public enum LineError: Error, Equatable, Sendable {
    /// No chip of that label or name; `present` are the labels of those that are there.
    case chipMissing(LineReference, present: [String])
    /// Neither may the process open `device`, nor is the chip any of those that it may open.
    case noPermission(LineReference, device: String)
    /// The chip has no such line.
    case lineMissing(LineReference, count: Int)
    /// Another program or a driver of the kernel has it; nil when the kernel does not say which.
    case lineTaken(LineReference, by: String?)
    /// Anything else; the code is an errno.
    case failed(LineReference, operation: String, code: Int32)
}
