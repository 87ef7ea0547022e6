import Platform

/// How the transfers of one `Network` connect, wait and trust. Certificates and host names are always verified; no
/// setting changes that.
public struct NetworkSettings: Sendable {
    /// The certificate authorities of the system, in one file.
    public static let systemAuthorities = "/etc/ssl/certs/ca-certificates.crt"

    /// A file of certificate authorities (PEM). When it is missing, none of them counts.
    public var caFile = systemAuthorities
    /// Another one, of a private authority, which counts as well.
    public var extraCAFile: String?
    /// Hosts whose public keys are known.
    public var pins: [HostPin] = []
    /// `http://host:port`; nil connects directly. Variables of the environment do not count.
    public var proxy: String?

    /// Until there is a connection: name resolution, TCP and TLS together. In milliseconds, like the next two.
    public var connectTimeout = 15_000
    /// From the request to the first line of the response.
    public var firstByteTimeout = 20_000
    /// Between bytes of a response. Does not count while the sink has enough.
    public var silenceTimeout = 15_000

    /// Which links are metered.
    public var links = LinkSettings()

    /// Connections at the same time to one host, and as many for transfers that may not use a metered link. Further
    /// transfers wait, without a limit of time.
    public var maximumConnectionsPerHost = 6
    /// Connections that stay open for the next request.
    public var maximumIdleConnections = 4

    public var userAgent = "Tonearm"
    /// The time that certificates are checked against. Called on the network thread.
    public var clock: any CertificateClock

    public init(clock: any CertificateClock) { self.clock = clock }

    /// - Parameter now: seconds since 1970, as they are known. Called on the network thread.
    public init(trustedNow now: @escaping @Sendable () -> Int64) { clock = KnownTime(now) }

    /// The keys that a host must have, as libcurl takes them; nil when any will do.
    func pinnedKeys(of host: String) -> String? {
        // libcurl takes a name with a final dot for the same host, and so do certificates.
        let name = String(
            decoding: host.utf8.last == UInt8(ascii: ".") ? host.utf8.dropLast() : host.utf8[...], as: UTF8.self)
        let keys = pins.filter { $0.host.equalsIgnoringCase(name) }.flatMap { $0.keys }
        return keys.isEmpty ? nil : keys.map { "sha256//\($0)" }.joined(separator: ";")
    }
}

/// A host whose certificate must have one of these public keys, in addition to a valid chain.
public struct HostPin: Equatable, Sendable {
    /// Without a port; every port of the host is meant.
    public let host: String
    /// SHA-256 of the public key (SubjectPublicKeyInfo, DER) in base64, as `openssl dgst -sha256 -binary | base64` of
    /// it gives it.
    public let keys: [String]

    /// - Returns: nil without a host or a key, and when a key is not the base64 of 32 bytes.
    public init?(host: String, keys: [String]) {
        guard !host.isEmpty, !keys.isEmpty, keys.allSatisfy(Self.isDigest) else { return nil }
        self.host = host
        self.keys = keys
    }

    /// Reads `HOST KEY KEY, HOST KEY`.
    /// - Returns: nil when a host or a key is missing, or a key is not one.
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

    /// 32 bytes are 43 characters and one for padding.
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

/// Why there is no network thread.
public enum NetworkSetupError: Error, Equatable, Sendable {
    /// A file of certificate authorities cannot be read.
    case authorities(SystemError)
    /// A file has no certificate in it.
    case noAuthority(file: String)
    /// No thread, no descriptor or no memory is left.
    case system(SystemError)
    /// libcurl cannot do what is asked of it.
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
