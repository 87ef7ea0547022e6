/// A request about updates of the firmware image, independent of the protocol.
package enum UpdateRequest: Equatable, Sendable {
    case status
    /// - Parameter from: nil for the address of the configuration.
    case install(from: UpdateAddress?)

    /// The text for the system.
    static func wanted(from address: UpdateAddress) -> String { "install\naddress=" + address.text + "\n" }
}
