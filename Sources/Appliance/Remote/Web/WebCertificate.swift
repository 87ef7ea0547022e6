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
        let secret = SecretBytes(copying: try contents(key))
        let identity: TLSIdentity
        do throws(TLSIdentity.Mistake) {
            identity = try TLSIdentity(certificate: certificates, key: secret)
        } catch {
            throw Refusal(message: message(error, certificate, key))
        }
        // Only a warning: the clock may not be set yet, and browsers check it themselves.
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

    private static func message(_ mistake: TLSIdentity.Mistake, _ certificate: String, _ key: String) -> String {
        switch mistake {
        case .certificate:
            "\(certificate): not a chain of certificates in PEM, with a key of P-256, P-384, P-521 or RSA"
        case .key: "\(key): not a private key in PEM (P-256, P-384, P-521 or RSA) without a password"
        case .otherKey: "\(key): not the key of the first certificate in \(certificate)"
        case .failed(let code): "\(certificate): the certificate cannot be used (mbedTLS's error \(code))"
        }
    }
}
