import CCurl

#if hasFeature(Embedded)
    import Crypto

    /// How the servers of one transfer are verified, and why one was refused. mbedTLS would parse all authorities for
    /// each connection, which takes longer than the rest of the handshake: here all connections share them.
    ///
    /// Thread: network.
    final class ServerVerification {
        private let authorities: CertificateAuthorities
        private let now: @Sendable () -> Int64
        private let faults = UnsafeMutablePointer<CertificateFaults>.allocate(capacity: 1)

        init(_ authorities: CertificateAuthorities, now: @escaping @Sendable () -> Int64) {
            self.authorities = authorities
            self.now = now
            faults.initialize(to: [])
        }

        deinit { faults.deallocate() }

        func apply(to handle: inout EasyHandle) {
            handle.setTLSCallback(
                { _, configuration, context in
                    Unmanaged<ServerVerification>.fromOpaque(context!).takeUnretainedValue().begin(configuration!)
                }, context: Unmanaged.passUnretained(self).toOpaque())
        }

        /// For each connection, before its handshake.
        private func begin(_ configuration: UnsafeMutableRawPointer) -> CURLcode {
            guard let chain = authorities.chain else { return CURLE_SSL_CACERT_BADFILE }
            faults.pointee = []
            chain.verifyServer(of: configuration, at: now(), faults: faults)
            return CURLE_OK
        }

        /// Why the certificate was refused.
        func failure(of handle: borrowing EasyHandle) -> TLSFailure {
            let faults = faults.pointee
            if faults.contains(.untrusted) { return .unknownAuthority }
            if faults.contains(.expired) { return .expired }
            if faults.contains(.notYetValid) { return .notYetValid }
            if faults.contains(.otherHost) { return .hostName }
            return .certificate(reason: "\(handle.message(for: CURLE_PEER_FAILED_VERIFICATION)) (\(faults.rawValue))")
        }
    }
#else
    /// How the servers of one transfer are verified, and why one was refused. OpenSSL reads the machine's clock.
    struct ServerVerification {
        private let authorities: CertificateAuthorities

        init(_ authorities: CertificateAuthorities, now: @escaping @Sendable () -> Int64) {
            self.authorities = authorities
        }

        func apply(to handle: inout EasyHandle) { handle.setBytes(CURLOPT_CAINFO_BLOB, authorities.text) }

        /// Why the certificate was refused: libcurl has the code of OpenSSL, and says in words what it checks itself.
        func failure(of handle: borrowing EasyHandle) -> TLSFailure {
            // <openssl/x509_vfy.h>
            switch handle.number(CURLINFO_SSL_VERIFYRESULT) {
            case 9: .notYetValid
            case 10: .expired
            // No issuer, a signature of another one, self-signed, or an authority that is not trusted.
            case 2, 18, 19, 20, 21, 27: .unknownAuthority
            // libcurl compares the names itself, before it asks for this code: it is still the one for "unspecified".
            case 1: .hostName
            default: .certificate(reason: handle.message(for: CURLE_PEER_FAILED_VERIFICATION))
            }
        }
    }
#endif
