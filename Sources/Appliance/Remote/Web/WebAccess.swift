import Crypto
import HTTPServer
import Platform

/// The password of the page and its certificate; or why they cannot be used: then the page shows that alone.
struct WebAccess {
    /// nil for a page without one.
    var password: [UInt8]?
    /// nil without TLS.
    var identity: TLSIdentity?
    /// Why the page admits no user, as a message; nil when it admits them.
    var problem: String?

    /// Reads the files that the configuration names.
    init(_ configuration: Configuration) {
        do throws(WebServer.Refusal) {
            password = try WebServer.password(configuration.webPasswordFile)
            identity = try WebServer.identity(configuration)
        } catch {
            (password, identity, problem) = (nil, nil, error.message)
        }
    }

    /// Whether clients outside of the private networks are accepted. Without a password they would need none, and
    /// without TLS others on their way could read it.
    func acceptsAll(_ configuration: Configuration) -> Bool {
        configuration.webAcceptsAll && identity != nil && password != nil
    }
}
