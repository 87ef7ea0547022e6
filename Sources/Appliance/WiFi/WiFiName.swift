import Platform

/// The name of a Wi-Fi network, its SSID: 1 to 32 bytes of any value (IEEE 802.11-2020, 9.4.2.2).
package struct WiFiName: Equatable, Sendable {
    package static let lengthLimit = 32

    let bytes: [UInt8]

    /// Returns nil for an empty name and for one with too many bytes.
    init?(_ bytes: [UInt8]) {
        guard (1...Self.lengthLimit).contains(bytes.count) else { return nil }
        self.bytes = bytes
    }

    /// Returns nil when `digits` do not form a name.
    init?(hexadecimal digits: some Sequence<UInt8>) {
        guard let bytes = Hexadecimal.bytes(String(decoding: Array(digits), as: UTF8.self)) else { return nil }
        self.init(bytes)
    }

    /// Reads the form of `text`.
    package init?(text: String) { self.init(FileName.bytes(of: text)) }

    /// The name as text in the form of `FileName`, which has exactly one text for any bytes.
    package var text: String {
        bytes.withUnsafeBufferPointer { FileName.text(of: $0) }
    }
}
