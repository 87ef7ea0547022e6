import CLinux
import Platform

/// A network interface of this machine at one moment, from the kernel (rtnetlink(7), /sys/class/net).
struct NetworkInterface: Equatable {
    /// The interface below one without a device of its own.
    enum Lower: Equatable {
        case none
        /// The interface with this number.
        case interface(Int32)
        /// The lower interface is in another network namespace.
        case elsewhere
    }

    /// The other end of a tunnel.
    struct Tunnel: Equatable {
        /// The interface that its packets leave over, independent of the routes; nil for the route to `remote`.
        var interface: Int32?
        /// 4 or 16 bytes; empty when the tunnel has several ends, or the kernel does not report one.
        var remote: [UInt8] = []
        /// Whether its packets carry a mark or routing information of their own.
        var isUnpredictable = false
    }

    /// The hardware of an interface.
    enum Device: Equatable {
        case none
        /// - Parameter driver: its name in the kernel; nil when the bus does not report it.
        case driven(by: String?)
    }

    var index: Int32
    var name: String
    /// Whether it is up and has a carrier, or a driver that cannot detect one.
    var isRunning = true
    /// The kind of a virtual interface: "bridge", "vlan", "ipip"…; empty for devices.
    var kind = ""
    /// The `DEVTYPE`: "wlan", "wwan", "bluetooth"; nil for most others.
    var type: String?
    /// ARPHRD_ of <linux/if_arp.h>.
    var hardware: UInt16 = 1
    var device = Device.driven(by: nil)
    var lower = Lower.none
    /// The bridge or bond of which it is a port.
    var master: Int32?
    var tunnel: Tunnel?

    func isOf(_ type: String) -> Bool { self.type.map { $0.utf8.elementsEqual(type.utf8) } ?? false }
    func isKind(_ kinds: [String]) -> Bool { kinds.contains { $0.utf8.elementsEqual(kind.utf8) } }
}

extension NetworkInterface {
    private static let most: Int32 = 1024
    // <linux/if.h>
    private static let running: UInt32 = 0x1 | 0x40

    /// Returns all interfaces, from the kernel; empty when it does not answer. Short reads without waiting. Any thread.
    static func all() -> [NetworkInterface] {
        let found = UnsafeMutablePointer<tonearm_interface>.allocate(capacity: Int(most))
        defer { found.deallocate() }
        let count = tonearm_interfaces(found, most)
        guard count > 0 else { return [] }
        return (0..<Int(count)).map { NetworkInterface(found[$0]) }
    }

    private init(_ found: tonearm_interface) {
        let name = Self.text(found.name)
        let folder = "/sys/class/net/\(name)"
        let device = Self.contents(of: "\(folder)/device/uevent")
        let driver = Self.value(of: "DRIVER=", inEvent: device)
        let type = Self.value(of: "DEVTYPE=", inEvent: Self.contents(of: "\(folder)/uevent"))
        self.init(
            index: found.index, name: name, isRunning: found.flags & Self.running == Self.running,
            kind: Self.text(found.kind), type: type, hardware: found.hardware,
            device: found.has_device != 0 || !device.isEmpty ? .driven(by: driver) : .none,
            lower: Self.lower(of: found), master: found.master > 0 ? found.master : nil, tunnel: Self.tunnel(of: found))
    }

    private static func lower(of found: tonearm_interface) -> Lower {
        if found.is_lower_elsewhere != 0 { return .elsewhere }
        return found.lower > 0 && found.lower != found.index ? .interface(found.lower) : .none
    }

    private static func tunnel(of found: tonearm_interface) -> Tunnel? {
        let link = found.tunnel_link > 0 ? found.tunnel_link : nil
        guard link != nil || found.remote_count > 0 || found.is_unpredictable != 0 else { return nil }
        let bytes = withUnsafeBytes(of: found.remote) { Array($0.prefix(Int(found.remote_count))) }
        return Tunnel(interface: link, remote: bytes, isUnpredictable: found.is_unpredictable != 0)
    }

    /// - Parameter characters: a C array that ends with a 0.
    private static func text<Characters>(_ characters: Characters) -> String {
        withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    /// Returns an empty array when the file is missing.
    private static func contents(of path: String) -> [UInt8] {
        do throws(SystemError) { return try File.contents(of: path, limit: 1 << 16) } catch { return [] }
    }

    /// Returns the text after `mark` in the first line of a `uevent` file that begins with it.
    static func value(of mark: String, inEvent text: [UInt8]) -> String? {
        for line in text.split(separator: UInt8(ascii: "\n")) where line.starts(with: mark.utf8) {
            return String(decoding: line.dropFirst(mark.utf8.count), as: UTF8.self)
        }
        return nil
    }
}
