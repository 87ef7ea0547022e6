import Platform

/// The power supplies of the machine, as the kernel lists them (Documentation/ABI/testing/sysfs-class-power).
package struct MachinePower: Sendable {
    private let folder: String

    /// - Parameter folder: replaced by tests.
    package init(_ folder: String = "/sys/class/power_supply") { self.folder = folder }

    /// Whether a battery of the machine discharges, and no other supply is online. A machine without batteries, or with
    /// unreadable supplies, counts as not running on battery.
    package var isOnBattery: Bool {
        var discharges = false
        guard let supplies = try? Folder.entries(of: folder) else { return false }
        for supply in supplies {
            if has(supply.name, "type", "Battery") || has(supply.name, "type", "UPS") {
                // Ignores the battery of a mouse or a headset.
                let isOfDevice = has(supply.name, "scope", "Device")
                if !isOfDevice, has(supply.name, "status", "Discharging") { discharges = true }
            } else if let online = value(supply.name, "online"), online.first != UInt8(ascii: "0") {
                return false
            }
        }
        return discharges
    }

    private func has(_ supply: String, _ name: String, _ expected: StaticString) -> Bool {
        guard let value = value(supply, name) else { return false }
        return expected.withUTF8Buffer { value.elementsEqual($0) }
    }

    /// Returns the first line of a value; nil if the value does not exist.
    private func value(_ supply: String, _ name: String) -> ArraySlice<UInt8>? {
        guard let bytes = try? File.contents(of: "\(folder)/\(supply)/\(name)", limit: 256) else { return nil }
        return bytes.prefix { $0 != UInt8(ascii: "\n") }
    }
}
