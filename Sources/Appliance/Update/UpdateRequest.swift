/// A request about updates of the firmware image, independent of the protocol.
package enum UpdateRequest: Equatable, Sendable {
    case status
    /// - Parameter from: the address of the bundle; nil for that of the configuration.
    case install(from: UpdateAddress?)
    /// Ends the update that waits or runs, if there is one.
    case cancel

    /// The text for the system.
    static func wanted(from address: UpdateAddress) -> String { "install\naddress=" + address.text + "\n" }
}
