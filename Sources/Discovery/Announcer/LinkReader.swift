import CLinux
import Platform

/// Reads the links of this machine, and reports their changes (rtnetlink(7)). Nothing wakes up without a change.
///
/// Thread: the loop's.
final class LinkReader {
    private let loop: EventLoop
    private let descriptor: Int32

    // <linux/if.h>: up, loopback, point-to-point, with a carrier, multicast.
    private static let required: UInt32 = 0x1 | 0x40 | 0x1000
    private static let refused: UInt32 = 0x8 | 0x10
    private static let mostInterfaces: Int32 = 256
    private static let mostAddresses: Int32 = 1024

    /// - Throws: when the kernel does not allow this process to watch changes.
    init(_ loop: EventLoop) throws(SystemError) {
        self.loop = loop
        descriptor = tonearm_address_changes()
        if descriptor < 0 { throw .last("socket", "rtnetlink") }
    }

    deinit { close(descriptor) }

    /// - Parameter changed: called after one or more changes of links and addresses.
    func watch(_ changed: @escaping () -> Void) throws(SystemError) {
        try loop.watch(descriptor, for: .readable) { [descriptor] _ in
            _ = tonearm_route_has_changed(descriptor)
            changed()
        }
    }

    /// Stops reporting. Must be the last call.
    func stop() { loop.unwatch(descriptor) }

    /// Returns the links on which services can be announced, from the kernel; empty when it does not answer. A short
    /// read without waiting.
    static func links() -> [DiscoveryLink] {
        let addresses = Self.read(Self.mostAddresses, tonearm_interface_addresses)
        return Self.read(Self.mostInterfaces, tonearm_interfaces).compactMap { interface in
            guard interface.flags & Self.required == Self.required, interface.flags & Self.refused == 0 else {
                return nil
            }
            let own = addresses.filter { $0.interface == interface.index && $0.is_unusable == 0 }
            return DiscoveryLink(index: interface.index, addresses: own.compactMap { Self.address($0) })
        }
    }

    private static func address(_ found: tonearm_interface_address) -> DiscoveryLink.Address? {
        guard found.address_count > 0 else { return nil }
        let bytes = withUnsafeBytes(of: found.address) { Array($0.prefix(Int(found.address_count))) }
        return DiscoveryLink.Address(
            address: IPAddress(bytes: bytes), prefixLength: Int(found.prefix_length),
            isAnnounced: found.is_passing == 0)
    }

    private static func read<Entry>(
        _ limit: Int32, _ call: (UnsafeMutablePointer<Entry>?, Int32) -> Int32
    ) -> [Entry] {
        let found = UnsafeMutablePointer<Entry>.allocate(capacity: Int(limit))
        defer { found.deallocate() }
        let count = call(found, limit)
        return count > 0 ? (0..<Int(count)).map { found[$0] } : []
    }
}
