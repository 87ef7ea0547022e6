import Appliance
import Crypto
import Platform

// The certificate of the page, from the files that the configuration names.

extension WebServer {
    /// The most bytes of a file: a chain of certificates has a few KiB each.
    private static let certificateLimit = 64 << 10

    /// Reads the certificate and its key.
    /// - Returns: nil for a page without TLS.
    static func identity(_ configuration: Configuration) throws(Refusal) -> TLSIdentity? {
        switch (configuration.webCertificate, configuration.webKey) {
        case (nil, nil): return nil
        case (_?, nil): throw Refusal(message: "[web] certificate is set without [web] key: set both, or none")
        case (nil, _?): throw Refusal(message: "[web] key is set without [web] certificate: set both, or none")
        case (let certificate?, let key?): return try identity(certificate, key)
        }
    }

    private static func identity(_ certificate: String, _ key: String) throws(Refusal) -> TLSIdentity {
        let certificates = try contents(certificate)
        let secret = try secret(key)
        let identity: TLSIdentity
        do throws(TLSIdentity.Mistake) {
            identity = try TLSIdentity(certificate: certificates, key: secret)
        } catch {
            throw Refusal(message: message(error, certificate, key))
        }
        // Only logs a warning, because the clock may not be set yet and browsers check the date themselves.
        if identity.validUntil < SystemTime.clockMilliseconds() / 1000 {
            let date = CalendarTime.date(identity.validUntil)
            Log.warning("\(certificate): the certificate has expired on \(date): browsers refuse it, replace it")
        }
        return identity
    }

    private static func contents(_ path: String) throws(Refusal) -> [UInt8] {
        do throws(SystemError) { return try File.contents(of: path, limit: certificateLimit) } catch {
            throw Refusal(message: error.description)
        }
    }

    /// Reads the key into memory that is overwritten.
    private static func secret(_ path: String) throws(Refusal) -> SecretBytes {
        var failure: SystemError?
        var count = 0
        let room = SecretBytes(count: certificateLimit) { room in
            do throws(SystemError) { count = try File(reading: path).read(into: room, at: 0) } catch { failure = error }
        }
        if let failure { throw Refusal(message: failure.description) }
        return SecretBytes(count: count) { key in
            room.withUnsafeBytes { key.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
    }

    private static func message(_ mistake: TLSIdentity.Mistake, _ certificate: String, _ key: String) -> String {
        switch mistake {
        case .certificate:
            "\(certificate): not a chain of certificates in PEM, with a key of P-256, P-384, P-521 or RSA"
        case .key: "\(key): not a private key in PEM (P-256, P-384, P-521 or RSA) without a password"
        case .notOfServer:
            "\(certificate): the first certificate is not for servers: its key usage needs digitalSignature, and its "
                + "extended key usage, if any, serverAuth"
        case .tooLong: "\(certificate): the chain is too long: leave out the root and what the chain does not need"
        case .otherKey: "\(key): not the key of the first certificate in \(certificate)"
        case .failed(let code): "\(certificate): the certificate cannot be used (mbedTLS's error \(code))"
        }
    }
}
