import Platform

/// A request about Wi-Fi, independent of the protocol.
package enum WiFiRequest: Equatable, Sendable {
    case status
    case scan
    case connect(WiFiTrial)
    case forget(WiFiName)
}

/// A network to try. If that succeeds, the machine joins it from then on.
package struct WiFiTrial: Equatable, Sendable {
    var name: WiFiName
    /// The password; nil for an open network.
    var password: [UInt8]?
    /// Whether the network hides its name.
    var isHidden: Bool

    package init(name: WiFiName, password: [UInt8]?, isHidden: Bool) {
        (self.name, self.password, self.isHidden) = (name, password, isHidden)
    }

    /// The allowed form of passwords, for messages.
    package static let passwordForm = "8 to 63 bytes without control characters, or 64 hexadecimal digits"

    /// Whether the bytes are a passphrase or a key of WPA (IEEE 802.11-2020, J.4). Accepts passphrases outside of
    /// ASCII, as many access points do.
    package static func isPassword(_ bytes: [UInt8]) -> Bool {
        if bytes.count == 64 { return Hexadecimal.bytes(String(decoding: bytes, as: UTF8.self)) != nil }
        return (8...63).contains(bytes.count) && bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }
}

extension WiFiRequest {
    /// The text for the system; nil for the status, which needs none.
    var wanted: String? {
        switch self {
        case .status: return nil
        case .scan: return "scan\n"
        case .forget(let name): return "forget\n" + Self.line("ssid", name.bytes)
        case .connect(let trial):
            let password = trial.password.map { Self.line("password", $0) } ?? ""
            return "join\n" + Self.line("ssid", trial.name.bytes) + password + (trial.isHidden ? "hidden=yes\n" : "")
        }
    }

    private static func line(_ key: String, _ bytes: [UInt8]) -> String { key + "=" + hexadecimal(bytes) + "\n" }
}
