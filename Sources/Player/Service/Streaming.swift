import Network
import Platform

/// Everything that streaming needs, as a configuration says it.
public struct StreamingSettings: Sendable {
    public var service: ServiceSettings
    /// A file with the token of the service, which is read again when the service refuses it; nil for none.
    public var tokenFile: String?
    /// A file with certificates of private authorities (PEM); nil for none.
    public var authorities: String?
    public var pins: [HostPin] = []
    /// `http://host:port`; nil for none.
    public var proxy: String?

    public init(service: ServiceSettings) { self.service = service }
}

/// The network thread and the content service on it. One a process.
///
/// Thread: any.
public final class Streaming: Sendable {
    public let source: ContentService
    private let network: Network

    /// - Parameter clock: the time that certificates are checked against.
    public init(_ settings: StreamingSettings, clock: any CertificateClock) throws(NetworkSetupError) {
        var network = NetworkSettings(clock: clock)
        network.extraCAFile = settings.authorities
        network.pins = settings.pins
        network.proxy = settings.proxy
        network.userAgent = settings.service.clientName
        self.network = try Network(network)
        let credentials: any CredentialsProvider =
            if let file = settings.tokenFile { FileCredentials(file) } else { StaticCredentials(token: nil) }
        source = ContentService(settings.service, over: self.network, credentials: credentials)
    }

    /// Another link is in use from now on; see `Network.linkChanged`.
    public func linkChanged(to link: Link) { network.linkChanged(to: link) }

    /// Ends all transfers and the thread. After the player.
    public func stop() { network.stop() }
}
