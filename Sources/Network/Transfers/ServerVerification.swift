import CCurl

#if hasFeature(Embedded)
    import Crypto

    /// Verifies the servers of one transfer, and provides the reason when one was refused. mbedTLS would parse all
    /// authorities for each connection, which takes longer than the rest of the handshake. Here all connections share
    /// them.
    ///
    /// Thread: network.
    final class ServerVerification {
        private let authorities: CertificateAuthorities
        private let clock: any CertificateClock
        private let findings = UnsafeMutablePointer<ServerCertificates>.allocate(capacity: 1)
        /// The time at which the certificates of the current connection were accepted. nil when this transfer has not
        /// made the connection, or a session was resumed without certificates.
        private var checkedAt: CertificateTime?

        init(_ authorities: CertificateAuthorities, clock: any CertificateClock) {
            self.authorities = authorities
            self.clock = clock
            findings.initialize(to: ServerCertificates())
        }

        deinit { findings.deallocate() }

        func apply(to handle: inout EasyHandle) {
            handle.setTLSCallback(
                { _, configuration, context in
                    Unmanaged<ServerVerification>.fromOpaque(context!).takeUnretainedValue().begin(configuration!)
                }, context: Unmanaged.passUnretained(self).toOpaque())
        }

        /// Prepares each connection before its handshake.
        private func begin(_ configuration: UnsafeMutableRawPointer) -> CURLcode {
            guard let chain = authorities.chain() else { return CURLE_SSL_CACERT_BADFILE }
            let now = clock.now()
            checkedAt = now
            findings.pointee = ServerCertificates(acceptsFuture: !now.isProved)
            chain.verifyServer(of: configuration, at: now.seconds, findings: findings)
            return CURLE_OK
        }

        /// Judges the certificates of a connection by the date of the first response over it.
        func judge(date: Int64?) -> ValidityPeriod.Judgement {
            defer { checkedAt = nil }
            let found = findings.pointee
            guard let checkedAt, found.count > 0 else { return .nothing }
            return ValidityPeriod(notBefore: found.notBefore, notAfter: found.notAfter)
                .judge(date: date, at: checkedAt)
        }

        /// Returns why the certificate was refused.
        func failure(of handle: borrowing EasyHandle) -> TLSFailure {
            let faults = findings.pointee.faults
            if faults.contains(.untrusted) { return .unknownAuthority }
            if faults.contains(.expired) { return .expired }
            if faults.contains(.notYetValid) { return .notYetValid }
            if faults.contains(.otherHost) { return .hostName }
            return .certificate(reason: "\(handle.message(for: CURLE_PEER_FAILED_VERIFICATION)) (\(faults.rawValue))")
        }
    }
#else
    /// Verifies the servers of one transfer, and provides the reason when one was refused. OpenSSL uses the machine's
    /// clock.
    struct ServerVerification {
        private let authorities: CertificateAuthorities

        init(_ authorities: CertificateAuthorities, clock: any CertificateClock) { self.authorities = authorities }

        func apply(to handle: inout EasyHandle) { handle.setBytes(CURLOPT_CAINFO_BLOB, authorities.text) }

        /// Proves nothing: OpenSSL has checked the certificates against the machine's clock, which is not the trusted
        /// time.
        func judge(date: Int64?) -> ValidityPeriod.Judgement { .nothing }

        /// Returns why the certificate was refused: libcurl has OpenSSL's code, and messages for its own checks.
        func failure(of handle: borrowing EasyHandle) -> TLSFailure {
            // <openssl/x509_vfy.h>
            switch handle.number(CURLINFO_SSL_VERIFYRESULT) {
            case 9: .notYetValid
            case 10: .expired
            // No issuer, a signature of another issuer, self-signed, or an untrusted authority.
            case 2, 18, 19, 20, 21, 27: .unknownAuthority
            // libcurl compares the names before this code is set, so a wrong name still has the code for "unspecified".
            case 1: .hostName
            default: .certificate(reason: handle.message(for: CURLE_PEER_FAILED_VERIFICATION))
            }
        }
    }
#endif
