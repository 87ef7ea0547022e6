import Account
import Network
import Platform

/// The settings of streaming, from a configuration.
public struct StreamingSettings: Sendable {
    public var service: ServiceSettings
    /// A file with the token of the service, which is read again when the service refuses it; nil for none.
    public var tokenFile: String?
    /// The state folder, which contains the login of the service (`tonearm login`); nil for none. A token file has
    /// priority.
    public var loginFolder: String?
    /// A file with certificates of private authorities (PEM); nil for none.
    public var authorities: String?
    public var pins: [HostPin] = []
    /// `http://host:port`; nil for none.
    public var proxy: String?
    /// Which links are metered.
    public var links = LinkSettings()
    /// The cache of the service's answers; nil for none.
    public var cache: CacheSettings?

    public init(service: ServiceSettings) { self.service = service }

    /// The file whose changes are changes of the login; nil for none.
    public var loginFile: String? {
        tokenFile ?? loginFolder.map { LoginStore(folder: $0, service: service).path }
    }
}

/// The cache of the service's answers.
public struct CacheSettings: Sendable {
    /// The folder of the cache alone; created when it is missing.
    public var folder: String
    public var limits: CacheLimits

    public init(folder: String, limits: CacheLimits) {
        self.folder = folder
        self.limits = limits
    }
}

extension StreamingSettings {
    package func network(_ clock: any CertificateClock) -> NetworkSettings {
        var network = NetworkSettings(clock: clock)
        network.extraCAFile = authorities
        network.pins = pins
        network.proxy = proxy
        network.links = links
        network.userAgent = service.clientName
        return network
    }

    /// Whether the login's file is one that this process has refreshed: no other login.
    package var isOwnRefresh: Bool {
        loginFolder.map { LoginStore(folder: $0, service: service).isOwnRefresh } ?? false
    }

    package func credentials(over network: any LoginNetwork) -> any CredentialsProvider {
        if let tokenFile { return FileCredentials(tokenFile) }
        guard let loginFolder else { return StaticCredentials(token: nil) }
        return RefreshingCredentials(LoginStore(folder: loginFolder, service: service), over: network)
    }
}
