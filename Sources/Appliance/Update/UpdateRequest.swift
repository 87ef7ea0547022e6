/// A request about updates of the firmware image, independent of the protocol.
package enum UpdateRequest: Equatable, Sendable {
    case status
    /// - Parameter from: nil for the address of the configuration.
    case install(from: UpdateAddress?)
    /// Ends the update that waits or runs; nothing without one.
    case cancel

    /// The text for the system.
    static func wanted(from address: UpdateAddress) -> String { "install\naddress=" + address.text + "\n" }
}
