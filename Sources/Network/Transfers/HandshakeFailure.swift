import Platform

// Why no TLS connection was agreed on, in words for users, and whether another attempt may succeed. libcurl has only
// the message of its TLS library: the number in it determines the failure.

extension TLSFailure {
    /// - Parameter message: from libcurl.
    init(handshake message: String) {
        switch HandshakeFault(message) {
        case .alert(let number): self = .handshake(reason: Self.reason(ofAlert: number), isFinal: number != 80)
        case .notTLS:
            self = .handshake(
                reason: "the server does not speak TLS at this port. If it has none, its address begins with http://",
                isFinal: true)
        case .version: self = .handshake(reason: Self.reason(ofAlert: 70), isFinal: true)
        case .unknownKind:
            self = .handshake(
                reason: "the server's certificate has a key or a signature of a kind that this player does not know. "
                    + "It knows RSA, P-256, P-384 and P-521",
                isFinal: true)
        case .connectionLost: self = .handshake(reason: "the server closed the connection", isFinal: false)
        case .other: self = .handshake(reason: message, isFinal: true)
        case nil: self = .handshake(reason: message, isFinal: false)
        }
    }

    /// The failure of an established connection: with TLS 1.3 a server requests a certificate only after the handshake.
    /// - Returns: nil when the message is not an alert.
    init?(afterHandshake message: String) {
        // Alerts that are not about certificates prove nothing about the next connection.
        guard case .alert(let number) = HandshakeFault(message), (42...49).contains(number) || number == 116 else {
            return nil
        }
        self = .handshake(reason: Self.reason(ofAlert: number), isFinal: true)
    }

    /// - Parameter number: the alert from the server (RFC 8446, 6.2).
    private static func reason(ofAlert number: Int) -> String {
        switch number {
        case 40, 71:
            "the server found nothing in common with this player: no cipher, no curve, or a certificate with a key of "
                + "another kind than RSA, P-256, P-384 or P-521 (such as Ed25519). Or it asks for a certificate of the "
                + "player, which has none"
        case 42...46, 49, 116: "the server asks for a certificate of the player, which has none"
        case 48: "the server does not accept this player's certificate: it has none"
        case 70: "the server speaks no version of TLS that this player speaks (1.2 and 1.3)"
        case 80: "the server failed"
        case 112: "the server does not know the host name that was asked for"
        case 0: "the server refused the handshake"
        default: "the server refused the handshake (alert \(number) of TLS)"
        }
    }
}

/// The fault that a message of libcurl describes.
private enum HandshakeFault {
    case alert(Int)
    case notTLS
    case version
    /// The key or signature of the certificate is not supported.
    case unknownKind
    case connectionLost
    /// Both sides have sent their parameters, and these do not match.
    case other

    /// - Returns: nil when the message has no number, because a system call has failed.
    init?(_ message: String) {
        if let number = Self.number(in: message, after: "(-0x") {
            // Memory is missing, so a later attempt may succeed.
            if number == 0x7F00 { return nil }
            self.init(mbedTLS: number)
        } else if let number = Self.number(in: message, after: "error:") {
            self.init(openSSL: number)
        } else {
            return nil
        }
    }

    /// The numbers of <mbedtls/ssl.h> and <mbedtls/net_sockets.h>. The lower seven bits of the number for a fatal alert
    /// are the alert's (tools/lib/mbedtls.patch).
    private init(mbedTLS number: Int) {
        switch number {
        case 0x7780...0x77FF: self = .alert(number - 0x7780)
        // An invalid record, or another message instead of the server's first one.
        case 0x7200, 0x7700: self = .notTLS
        case 0x6E80: self = .version
        // From <mbedtls/x509.h> and <mbedtls/pk.h>.
        case 0x7A00, 0x2080..<0x3000, 0x3880...0x3FFF: self = .unknownKind
        // Closed, with a notice (0x7880) or without.
        case 0x7280, 0x7880, 0x42...0x52: self = .connectionLost
        default: self = .other
        }
    }

    /// The reasons of <openssl/sslerr.h>, in the lower 23 bits. Numbers from 1000 on are alerts.
    private init(openSSL number: Int) {
        switch number & 0x7F_FFFF {
        case let reason where (1000..<1256).contains(reason): self = .alert(reason - 1000)
        // "wrong version number", "packet length too long", "http request", "https proxy request".
        case 267, 198, 156, 155: self = .notTLS
        // "unsupported protocol", "no protocols available", "version too low".
        case 258, 191, 396: self = .version
        // "unexpected eof while reading".
        case 294: self = .connectionLost
        default: self = .other
        }
    }

    /// Returns the hexadecimal number after the first `prefix`.
    private static func number(in message: String, after prefix: StaticString) -> Int? {
        let text = Array(message.utf8)
        let length = prefix.utf8CodeUnitCount
        guard text.count > length else { return nil }
        return prefix.withUTF8Buffer { prefix in
            for start in 0..<(text.count - length) where text[start..<(start + length)].elementsEqual(prefix) {
                var number: Int?
                for byte in text[(start + length)...].prefix(8) {
                    guard let digit = byte.hexadecimalDigit else { break }
                    number = (number ?? 0) << 4 | digit
                }
                return number
            }
            return nil
        }
    }
}

extension UInt8 {
    fileprivate var hexadecimalDigit: Int? {
        if let digit { return digit }
        return (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(lowercased) ? Int(lowercased) - 87 : nil
    }
}
