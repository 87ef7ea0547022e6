import Platform

extension LineError: CustomStringConvertible {
    /// The failure and its solution, for the user.
    public var description: String {
        switch self {
        case .chipMissing(let line, let present):
            let chips = present.isEmpty ? "This machine has none." : "Chips here: \(present.joined(separator: ", "))."
            return "\(line): no such GPIO chip. \(chips)"
        case .noPermission(let line, let device):
            return "\(line): not permitted to open \(device). Add the user to the group that owns it, often `gpio`."
        case .lineMissing(let line, let count):
            let offsets = count > 0 ? " The chip has \(count) lines, 0 to \(count - 1)." : ""
            return "\(line): no such line.\(offsets)"
        case .lineTaken(let line, let consumer):
            return "\(line): in use by \(consumer.map { "`\($0)`" } ?? "another program or driver")."
        case .failed(let line, let operation, let code):
            return "\(line): \(SystemError(code: code, operation: operation).description)."
        }
    }
}
