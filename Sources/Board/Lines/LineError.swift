/// Why a GPIO line cannot be used, with the details that the user needs.
public enum LineError: Error, Equatable, Sendable {
    /// No chip has that label or name; `present` has the labels of the chips of this machine.
    case chipMissing(LineReference, present: [String])
    /// The process may not open `device`, and no chip that it may open matches.
    case noPermission(LineReference, device: String)
    /// The chip has no such line.
    case lineMissing(LineReference, count: Int)
    /// Another program or a driver of the kernel uses it; nil when the kernel does not name it.
    case lineTaken(LineReference, by: String?)
    /// Any other error; the code is an errno.
    case failed(LineReference, operation: String, code: Int32)
}
