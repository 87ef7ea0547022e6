import Platform

/// The address of a file on a web server, `http://…` or `https://…`, as a person or a playlist writes it. It is the
/// product's id in the player (docs/playback.md, 18).
///
///     WebFileAddress("http://nas/a b.flac")?.request          // "http://nas/a%20b.flac"
///     WebFileAddress("http://me:secret@nas/a.flac")?.shown    // "http://nas/a.flac"
public struct WebFileAddress: Equatable, Sendable {
    private static let schemes = ["http://", "https://"]
    private static let digits = Array("0123456789ABCDEF".utf8)

    private let bytes: [UInt8]
    /// The host, with the user name and the port.
    private let authority: Range<Int>

    /// Returns nil when `text` is no such address, or has no host.
    public init?(_ text: String) {
        guard let start = Self.schemeLength(of: text) else { return nil }
        bytes = Array(text.utf8)
        let end = bytes[start...].firstIndex { Self.endsAuthority($0) } ?? bytes.count
        guard end > start else { return nil }
        authority = start..<end
    }

    /// Returns whether `text` is meant to be such an address, even an incomplete one.
    public static func isMeant(by text: String) -> Bool { schemeLength(of: text) != nil }

    private static func schemeLength(of text: String) -> Int? {
        schemes.first { scheme in text.utf8.prefix(scheme.utf8.count).map { $0.lowercased }.elementsEqual(scheme.utf8) }
            .map { $0.utf8.count }
    }

    private static func endsAuthority(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    /// The offset of the host, after a user name and password.
    private var host: Int { bytes[authority].lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 } ?? authority.lowerBound }

    /// The address for messages: without a user name and password.
    public var shown: String {
        String(decoding: bytes[..<authority.lowerBound] + bytes[host...], as: UTF8.self)
    }

    /// The address for a request, in which characters that no address may contain are escaped.
    package var request: String {
        var escaped = Array(bytes[..<authority.upperBound])
        for byte in bytes[authority.upperBound...] {
            if byte > 0x20, byte < 0x7F {
                escaped.append(byte)
            } else {
                escaped += [UInt8(ascii: "%"), Self.digits[Int(byte >> 4)], Self.digits[Int(byte & 15)]]
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }

    /// Why the address cannot become a product, for the user; nil when it can.
    package var refusal: String? {
        if host > authority.lowerBound {
            return "an address with a user name or password is not played, because the queue would show it. Use one "
                + "that needs no login."
        }
        let rest = bytes[authority.upperBound...]
        let path = rest.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        switch MusicFileKind(name: String(decoding: path, as: UTF8.self)) {
        case .cueSheet, .playlist: return Self.listRefusal
        case .audio, nil: return nil
        }
    }

    /// Why the list at an address is not read.
    package static let listRefusal = "a playlist or cue sheet on a server is not read. Save it to a file, and add that."
}
