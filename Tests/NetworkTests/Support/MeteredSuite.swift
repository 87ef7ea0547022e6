import TestSupport

@testable import Network

extension TwoLinks<ScriptedServer> {
    convenience init?(
        modem: String = "wwan0", _ script: @escaping @Sendable (ScriptedConnection) -> Void
    ) {
        self.init(modem: modem) { ScriptedServer(address: "::", script) }
    }

    /// The server's address.
    func url(_ version: Int) -> String {
        "http://\(version == 4 ? "10.99.0.1" : "[fd99::1]"):\(server.port)/"
    }
}

/// Fixtures of the suites about transfers of a machine with a cable and a modem.
protocol MeteredSuite {}

extension MeteredSuite {
    /// A whole answer to each request.
    static func whole(_ connection: ScriptedConnection) {
        while connection.request() != nil { connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") }
    }

    static func network(_ links: LinkSettings = LinkSettings()) throws -> Network {
        var settings = NetworkSettings { 1_800_000_000 }
        settings.caFile = try Nginx.shared.get().certificates.authority
        settings.links = links
        return try Network(settings)
    }

    static func request(_ url: String, mayUseMeteredLink: Bool = false) -> TransferRequest {
        var request = TransferRequest(url: url)
        request.mayUseMeteredLink = mayUseMeteredLink
        return request
    }

    static var overCable: String { "route add default via 10.9.0.2 metric 100" }
    static var overModem: String { "route add default via 10.8.0.2 metric 200" }
}
