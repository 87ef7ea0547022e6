import Appliance
import Crypto
import HTTPServer
import Platform

/// The password of the page and its certificate, or the problem that makes them unusable. The page then shows only the
/// problem.
struct WebAccess {
    /// The password; nil for a page without one.
    var password: [UInt8]?
    /// Whether clients without a login may use the music alone.
    let limitsGuests: Bool
    /// nil without TLS.
    var identity: TLSIdentity?
    /// The message why the page admits no user; nil when it admits users.
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
    ///   - isInOwnNetwork: returns whether the client is in the network that the machine has opened for its set-up.
    func rights(isLoggedIn: Bool, isPrivate: Bool, isInOwnNetwork: () -> Bool) -> ClientRights? {
        if problem != nil { return nil }
        if password == nil ? !limitsGuests : isLoggedIn { return .all }
        guard limitsGuests, isPrivate else { return nil }
        // Before the machine has joined a network, no password can have been set.
        return password == nil && isInOwnNetwork() ? .musicAndWiFi : .music
    }

    /// Returns whether clients outside of the private networks are accepted. That needs a password, and TLS so that
    /// others cannot read the password.
    func acceptsAll(_ configuration: Configuration) -> Bool {
        configuration.webAcceptsAll && identity != nil && password != nil
    }
}
