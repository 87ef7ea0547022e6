import Appliance
import Crypto
import HTTPServer
import Platform

/// The password of the page and its certificate; or why they cannot be used: then the page shows that alone.
struct WebAccess {
    /// nil for a page without one.
    var password: [UInt8]?
    /// Whether clients without a login may use the music alone.
    let limitsGuests: Bool
    /// nil without TLS.
    var identity: TLSIdentity?
    /// Why the page admits no user, as a message; nil when it admits them.
    var problem: String?

    /// Reads the files that the configuration names.
    init(_ configuration: Configuration) {
        limitsGuests = configuration.webLimitsGuests
        do throws(WebServer.Refusal) {
            password = try WebServer.password(configuration.webPasswordFile)
            identity = try WebServer.identity(configuration)
        } catch {
            (password, identity, problem) = (nil, nil, error.message)
        }
    }

    /// Returns the rights of a client; nil when it has to log in first.
    /// - Parameters:
    ///   - isPrivate: whether the client is in a private network.
    ///   - isInOwnNetwork: returns whether it is in the network that the machine has opened for its set-up.
    func rights(isLoggedIn: Bool, isPrivate: Bool, isInOwnNetwork: () -> Bool) -> ClientRights? {
        if problem != nil { return nil }
        if password == nil ? !limitsGuests : isLoggedIn { return .all }
        guard limitsGuests, isPrivate else { return nil }
        // Without a network no password can be set.
        return password == nil && isInOwnNetwork() ? .musicAndWiFi : .music
    }

    /// Whether clients outside of the private networks are accepted. Without a password they would need none, and
    /// without TLS others on their way could read it.
    func acceptsAll(_ configuration: Configuration) -> Bool {
        configuration.webAcceptsAll && identity != nil && password != nil
    }
}
