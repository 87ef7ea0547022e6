import CMbedTLS
import Platform

/// The certificate and the private key of a TLS server, and its protocols: TLS 1.2 and 1.3 (with mbedTLS 2.28 only
/// 1.2), with the ciphers of `CipherPreference`. It is parsed once for all connections.
///
/// Thread: one at a time, its sessions included. `@unchecked Sendable` is safe because its maker hands it over to the
/// thread of the sessions.
public final class TLSIdentity: @unchecked Sendable {
    /// Why a certificate and a key cannot be used.
    public enum Mistake: Error, Equatable, Sendable {
        /// The first text is not a chain of certificates in PEM, or has one that mbedTLS cannot read.
        case certificate
        /// The second text is not a private key in PEM, has a password, or is of a kind that mbedTLS does not have.
        case key
        /// The key belongs to another certificate.
        case otherKey
        /// Its `keyUsage` or `extendedKeyUsage` (RFC 5280, 4.2.1) excludes servers of TLS.
        case notOfServer
        /// The chain does not fit into one message of a handshake.
        case tooLong
        /// mbedTLS refused for another reason, most likely for lack of memory.
        case failed(code: Int32)
    }

    /// The most bytes of the certificates: those of a record, less the rest of the message.
    private static let chainLimit = 16_000

    /// The last moment in which all certificates of the chain are valid, in seconds since 1970.
    public private(set) var validUntil: Int64 = 0

    let configuration = UnsafeMutablePointer<mbedtls_ssl_config>.allocate(capacity: 1)
    private let certificates = UnsafeMutablePointer<mbedtls_x509_crt>.allocate(capacity: 1)
    private let key = UnsafeMutablePointer<mbedtls_pk_context>.allocate(capacity: 1)
    /// mbedTLS stores this pointer.
    private let suites: UnsafeMutablePointer<Int32>

    /// - Parameters:
    ///   - certificate: PEM: the certificate of the server, followed by those of the authorities between it and the
    ///     root.
    ///   - key: PEM: its private key, EC (P-256, P-384, P-521) or RSA, without a password.
    public init(certificate: [UInt8], key: borrowing SecretBytes) throws(Mistake) {
        // TLS 1.3 has suites of its own, which mbedTLS 2.28 does not know and trips over.
        let known = CipherPreference.forThisProcessor.suites.map { $0.rawValue }
            .filter { mbedtls_ssl_ciphersuite_from_id($0) != nil }
        suites = .allocate(capacity: known.count + 1)
        suites.initialize(repeating: 0, count: known.count + 1)
        for (index, suite) in known.enumerated() { suites[index] = suite }
        mbedtls_ssl_config_init(configuration)
        mbedtls_x509_crt_init(certificates)
        mbedtls_pk_init(self.key)
        // From here on an error runs `deinit`, because everything that it releases exists.
        validUntil = try Self.read(certificate, into: certificates)
        guard tonearm_tls_check_usage(certificates) == 0 else { throw .notOfServer }
        try Self.read(key, into: self.key)
        guard tonearm_tls_check_pair(certificates, self.key) == 0 else { throw .otherKey }
        try Self.check(tonearm_tls_prepare())
        try Self.check(
            mbedtls_ssl_config_defaults(
                configuration, MBEDTLS_SSL_IS_SERVER, MBEDTLS_SSL_TRANSPORT_STREAM, MBEDTLS_SSL_PRESET_DEFAULT))
        tonearm_tls_refuse_old_versions(configuration)
        mbedtls_ssl_conf_rng(configuration, tonearm_tls_random, nil)
        mbedtls_ssl_conf_ciphersuites(configuration, suites)
        try Self.check(mbedtls_ssl_conf_own_cert(configuration, certificates, self.key))
    }

    deinit {
        mbedtls_ssl_config_free(configuration)
        mbedtls_x509_crt_free(certificates)
        mbedtls_pk_free(key)  // Overwrites the key.
        configuration.deallocate()
        certificates.deallocate()
        key.deallocate()
        suites.deallocate()
    }

    /// - Returns: the last moment in which all are valid.
    private static func read(
        _ text: [UInt8], into first: UnsafeMutablePointer<mbedtls_x509_crt>
    ) throws(Mistake) -> Int64 {
        // A 0 ends PEM. A positive result is the number of certificates that were skipped.
        let ended = text + [0]
        guard mbedtls_x509_crt_parse(first, ended, ended.count) == 0, first.pointee.raw.len > 0 else {
            throw .certificate
        }
        var end = Int64.max
        var size = 0
        var next: UnsafeMutablePointer<mbedtls_x509_crt>? = first
        while let certificate = next {
            let last = certificate.pointee.valid_to
            // A time before 1970 is not representable, and means that the certificate has expired.
            end = min(
                end,
                CalendarTime.seconds(
                    year: Int(last.year), month: Int(last.mon), day: Int(last.day), hour: Int(last.hour),
                    minute: Int(last.min), second: Int(last.sec)) ?? 0)
            // Each one is sent with its length, and in TLS 1.3 with that of its extensions.
            size += certificate.pointee.raw.len + 5
            next = certificate.pointee.next
        }
        guard size <= chainLimit else { throw .tooLong }
        return end
    }

    private static func read(
        _ text: borrowing SecretBytes, into key: UnsafeMutablePointer<mbedtls_pk_context>
    ) throws(Mistake) {
        let (bytes, count) = (text.pointer, text.count)
        let ended = SecretBytes(count: count + 1) { room in
            if let bytes { room.copyMemory(from: UnsafeRawBufferPointer(start: bytes, count: count)) }
        }
        guard tonearm_tls_parse_key(key, ended.pointer, ended.count) == 0 else { throw .key }
    }

    private static func check(_ code: Int32) throws(Mistake) {
        if code != 0 { throw .failed(code: code) }
    }
}
