import Platform

/// The connections, time limits and trust of one `Network`. Certificates and host names are always verified; no setting
/// changes that.
public struct NetworkSettings: Sendable {
    /// The certificate authorities of the system, in one file.
    public static let systemAuthorities = "/etc/ssl/certs/ca-certificates.crt"

    /// A file of certificate authorities (PEM). It may be missing.
    public var caFile = systemAuthorities
    /// A file of private authorities, which are trusted as well.
    public var extraCAFile: String?
    /// Hosts whose public keys are known.
    public var pins: [HostPin] = []
    /// `http://host:port`; nil for direct connections. Environment variables are ignored.
    public var proxy: String?

    /// The time until there is a connection: name resolution, TCP and TLS together. In milliseconds, like the next two.
    public var connectTimeout = 15_000
    /// The time from the request to the first line of the response.
    public var firstByteTimeout = 20_000
    /// The time between bytes of a response. Does not count while the sink has answered `.enough`.
    public var silenceTimeout = 15_000

    /// The silence of a WebSocket's server after which it gets a ping, and how long it may leave that one without an
    /// answer. In milliseconds.
    public var webSocketPingInterval = 60_000
    public var webSocketPingTimeout = 20_000

    /// Which links are metered.
    public var links = LinkSettings()

    /// The maximum number of simultaneous connections to one host, and again for transfers that may not use a metered
    /// link. Further transfers wait without a time limit.
    public var maximumConnectionsPerHost = 6
    /// The maximum number of connections that stay open for later requests.
    public var maximumIdleConnections = 4

    public var userAgent = "Tonearm"
    /// The time for checking certificates. Called on the network thread.
    public var clock: any CertificateClock

    public init(clock: any CertificateClock) { self.clock = clock }

    /// - Parameter now: returns the proved time in seconds since 1970. Called on the network thread.
    public init(trustedNow now: @escaping @Sendable () -> Int64) { clock = KnownTime(now) }

    /// Returns the keys that a host must have, in libcurl's form; nil when it has no pins.
    func pinnedKeys(of host: String) -> String? {
        // libcurl and certificates ignore a final dot of a host name.
        let name = String(
            decoding: host.utf8.last == UInt8(ascii: ".") ? host.utf8.dropLast() : host.utf8[...], as: UTF8.self)
        let keys = pins.filter { $0.host.equalsIgnoringCase(name) }.flatMap { $0.keys }
        return keys.isEmpty ? nil : keys.map { "sha256//\($0)" }.joined(separator: ";")
    }
}

/// A host whose certificate must have one of these public keys, in addition to a valid chain.
public struct HostPin: Equatable, Sendable {
    /// The host without a port; the pin applies to all ports.
    public let host: String
    /// The SHA-256 digests of the public keys (SubjectPublicKeyInfo, DER) in base64. `openssl dgst -sha256 -binary
    ///  base64` computes them.
    public let keys: [String]

    /// - Returns: nil without a host or a key, or when a key is not the base64 of 32 bytes.
    public init?(host: String, keys: [String]) {
        guard !host.isEmpty, !keys.isEmpty, keys.allSatisfy(Self.isDigest) else { return nil }
        self.host = host
        self.keys = keys
    }

    /// Reads `HOST KEY KEY, HOST KEY`.
    /// - Returns: nil when a host or a key is missing, or a key is invalid.
    public static func list(_ text: String) -> [HostPin]? {
        var pins: [HostPin] = []
        for part in text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            let words = part.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
            guard let host = words.first, let pin = HostPin(host: host, keys: Array(words.dropFirst())) else {
                return nil
            }
            pins.append(pin)
        }
        return pins
    }

    /// 32 bytes have 43 characters and one for padding.
    private static func isDigest(_ key: String) -> Bool {
        let characters = Array(key.utf8)
        guard characters.count == 44, characters[43] == UInt8(ascii: "=") else { return false }
        return characters.dropLast().allSatisfy { character in
            switch character {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
                true
            default: false
            }
        }
    }
}

/// Why the network could not be set up.
public enum NetworkSetupError: Error, Equatable, Sendable {
    /// A file of certificate authorities cannot be read.
    case authorities(SystemError)
    /// A file contains no certificate.
    case noAuthority(file: String)
    /// No thread, no descriptor or no memory is left.
    case system(SystemError)
    /// libcurl lacks a required function.
    case library(String)
}

extension NetworkSetupError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .authorities(let error):
            "certificate authorities: \(error). The package ca-certificates has the usual ones"
        case .noAuthority(let file): "\(file): no certificate in it (expected PEM)"
        case .system(let error): "network: \(error)"
        case .library(let reason): "network: \(reason)"
        }
    }
}
