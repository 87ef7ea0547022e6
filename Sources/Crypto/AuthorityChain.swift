// Only in Embedded builds: libcurl of the host uses another TLS library.
#if hasFeature(Embedded)
    import CMbedTLS
    import Platform
    import Synchronization

    /// Certificates of authorities, parsed once for all connections. It must outlive the connections that it verifies.
    ///
    /// Any thread, one at a time.
    public final class AuthorityChain {
        private let first = UnsafeMutablePointer<mbedtls_x509_crt>.allocate(capacity: 1)
        /// mbedTLS stores this pointer.
        private let suites: UnsafeMutablePointer<Int32>

        /// - Parameter pem: certificates in PEM, followed by a 0. Certificates that mbedTLS cannot read are skipped.
        /// - Throws: `failed` when no certificate is left.
        public init(pem: UnsafeRawBufferPointer) throws(CryptoError) {
            let wanted = CipherPreference.forThisProcessor.suites.map { $0.rawValue } + [0]
            suites = .allocate(capacity: wanted.count)
            for (index, suite) in wanted.enumerated() { (suites + index).initialize(to: suite) }
            mbedtls_x509_crt_init(first)
            LibraryClock.use()
            let bytes = pem.bindMemory(to: UInt8.self)
            // A positive code is the number of certificates that were skipped.
            let code = mbedtls_x509_crt_parse(first, bytes.baseAddress, bytes.count)
            if code < 0 || first.pointee.raw.len == 0 { throw .failed(code: code) }
        }

        deinit {
            mbedtls_x509_crt_free(first)
            first.deallocate()
            suites.deallocate()
        }

        /// Makes a connection verify its server against these authorities, and offer the ciphers that are fast here.
        /// - Parameters:
        ///   - configuration: the configuration of a connection that has not begun (`mbedtls_ssl_config`).
        ///   - now: seconds since 1970; certificates are checked against this time. It applies to the whole process
        ///     until the next call.
        ///   - findings: collects the results for the server's certificates; must stay valid until the handshake is
        ///     over.
        public func verifyServer(
            of configuration: UnsafeMutableRawPointer, at now: Int64,
            findings: UnsafeMutablePointer<ServerCertificates>
        ) {
            LibraryClock.set(now)
            let configuration = configuration.assumingMemoryBound(to: mbedtls_ssl_config.self)
            mbedtls_ssl_conf_authmode(configuration, MBEDTLS_SSL_VERIFY_REQUIRED)
            mbedtls_ssl_conf_ca_chain(configuration, first, nil)
            tonearm_use_default_profile(configuration)
            mbedtls_ssl_conf_ciphersuites(configuration, suites)
            mbedtls_ssl_conf_verify(
                configuration,
                { context, certificate, _, flags in
                    // Called for each certificate of the chain. If any flag remains set, the server is refused.
                    if let context, let certificate, let flags {
                        flags.pointee = context.assumingMemoryBound(to: ServerCertificates.self).pointee
                            .add(flags.pointee, certificate)
                    }
                    return 0
                }, findings)
        }
    }

    /// The results of checking the certificates of one server.
    public struct ServerCertificates: Sendable {
        /// Whether a certificate may become valid only after the time of the check, because that time is only the
        /// earliest possible one.
        public let acceptsFuture: Bool
        /// The number of certificates, and their faults.
        public private(set) var count = 0
        public private(set) var faults: CertificateFaults = []
        /// The range of time in which all certificates are valid, in seconds since 1970.
        public private(set) var notBefore = Int64.min
        public private(set) var notAfter = Int64.max

        public init(acceptsFuture: Bool = false) { self.acceptsFuture = acceptsFuture }

        /// - Returns: the faults that make the connection refuse the server.
        fileprivate mutating func add(
            _ flags: UInt32, _ certificate: UnsafeMutablePointer<mbedtls_x509_crt>
        ) -> UInt32 {
            count += 1
            notBefore = max(notBefore, Self.seconds(certificate.pointee.valid_from) ?? .max)
            notAfter = min(notAfter, Self.seconds(certificate.pointee.valid_to) ?? .min)
            let kept = acceptsFuture ? flags & ~CertificateFaults.notYetValid.rawValue : flags
            faults.formUnion(CertificateFaults(rawValue: kept))
            return kept
        }

        /// Returns nil before 1970. A certificate "without end" has the year 9999 (RFC 5280, 4.1.2.5).
        private static func seconds(_ time: mbedtls_x509_time) -> Int64? {
            CalendarTime.seconds(
                year: Int(time.year), month: Int(time.mon), day: Int(time.day), hour: Int(time.hour),
                minute: Int(time.min), second: Int(time.sec))
        }
    }

    /// The faults that mbedTLS finds in the certificates of a server.
    public struct CertificateFaults: OptionSet, Sendable {
        public let rawValue: UInt32
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        public static let expired = CertificateFaults(rawValue: UInt32(MBEDTLS_X509_BADCERT_EXPIRED))
        public static let notYetValid = CertificateFaults(rawValue: UInt32(MBEDTLS_X509_BADCERT_FUTURE))
        /// No known authority has signed the certificate.
        public static let untrusted = CertificateFaults(rawValue: UInt32(MBEDTLS_X509_BADCERT_NOT_TRUSTED))
        /// The certificate is for other hosts.
        public static let otherHost = CertificateFaults(rawValue: UInt32(MBEDTLS_X509_BADCERT_CN_MISMATCH))
    }

    /// The clock that mbedTLS reads. The machine's own clock may be wrong, and begins in 1970 on a board without a
    /// battery.
    private enum LibraryClock {
        private static let seconds = Atomic(0)

        /// `time_t` has 32 bits on 32-bit ARM: the clock stops there in 2038.
        static func set(_ now: Int64) { seconds.store(Int(clamping: now), ordering: .relaxed) }

        static func use() {
            mbedtls_platform_set_time { answer in
                let now = time_t(LibraryClock.seconds.load(ordering: .relaxed))
                answer?.pointee = now
                return now
            }
        }
    }
#endif
