import Discovery
import Platform

/// The servers of the daemon that listen to other machines.
package struct AnnouncedServers: Sendable {
    /// The port of MPD's protocol; nil when other machines cannot connect.
    var mpdPort: UInt16?
    /// The port of the web server; nil without one.
    var webPort: UInt16?
    /// Whether the web server has TLS.
    var isWebSecure = false

    /// - Parameters:
    ///   - mpdPort: nil when the server is not open.
    ///   - webPort: nil when the server is not open.
    ///   - configuration: contains the addresses at which they listen.
    package init(mpdPort: UInt16?, webPort: UInt16?, isWebSecure: Bool, _ configuration: Configuration) {
        self.mpdPort = Self.isReachable(configuration.mpdAddress) ? mpdPort : nil
        self.webPort = Self.isReachable(configuration.webAddress) ? webPort : nil
        self.isWebSecure = isWebSecure
    }

    init(mpdPort: UInt16?, webPort: UInt16?, isWebSecure: Bool = false) {
        self.mpdPort = mpdPort
        self.webPort = webPort
        self.isWebSecure = isWebSecure
    }

    /// The services that other machines find. `_tonearm._tcp` distinguishes players from other web servers.
    var services: [AnnouncedService] {
        var services: [AnnouncedService] = []
        if let mpdPort { services.append(AnnouncedService(type: "_mpd._tcp", port: mpdPort)) }
        if let webPort {
            let type = isWebSecure ? "_https._tcp" : "_http._tcp"
            services.append(AnnouncedService(type: type, port: webPort, texts: ["path=/"]))
            let texts = isWebSecure ? ["path=/", "tls=1"] : ["path=/"]
            services.append(AnnouncedService(type: "_tonearm._tcp", port: webPort, texts: texts))
        }
        return services
    }

    /// Whether other machines can connect to a server.
    /// - Parameter address: the address at which it listens; nil if it does not listen.
    static func isReachable(_ address: String?) -> Bool { address.map { !isLoopback($0) } ?? false }

    /// Whether only this machine can use a numeric address: 127.0.0.0/8, also as an IPv4-mapped IPv6 address, and ::1.
    private static func isLoopback(_ address: String) -> Bool {
        let version6 = ["::1", "0:0:0:0:0:0:0:1"].contains { address.utf8.elementsEqual($0.utf8) }
        return version6 || address.utf8.starts(with: "127.".utf8) || address.utf8.starts(with: "::ffff:127.".utf8)
    }
}
