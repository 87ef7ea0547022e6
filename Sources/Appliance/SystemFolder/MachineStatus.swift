/// The status of the machine, for a user without a shell.
package struct MachineStatus: Equatable, Sendable {
    /// A file system with music or the state.
    package struct Volume: Equatable, Sendable {
        /// The mount point.
        package var path: String
        package var freeBytes: Int64
        package var allBytes: Int64
    }

    /// The name that other machines show.
    package var name: String
    package var addresses: [String]
    package var volumes: [Volume]
    /// The last report of the system, for the user; nil without one.
    package var report: String?
}
