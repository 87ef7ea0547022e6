import Discovery
import Platform

/// Announces the daemon's servers, as the configuration says.
///
/// Thread: the daemon's.
package final class ServerAnnouncement {
    private static let avahiSocket = "/run/avahi-daemon/socket"

    private let announcer: ServiceAnnouncer

    private init(_ announcer: ServiceAnnouncer) { self.announcer = announcer }

    /// Begins to announce the servers. Where that is not possible, the daemon has the problem `discovery`.
    /// - Returns: nil when nothing is announced.
    package static func open(_ daemon: Daemon, _ servers: AnnouncedServers) -> ServerAnnouncement? {
        open(daemon, servers, avahiSocket: avahiSocket)
    }

    /// - Parameter avahiSocket: exists while avahi-daemon runs.
    static func open(
        _ daemon: Daemon, _ servers: AnnouncedServers, avahiSocket: String
    ) -> ServerAnnouncement? {
        let configuration = daemon.settings.configuration
        let services = servers.services
        guard !services.isEmpty else { return nil }
        switch configuration.announcement {
        case .never: return nil
        case .unlessAvahiRuns where FileKind(at: avahiSocket) != nil:
            Log.notice("avahi-daemon runs here: the servers are not announced ([discovery] announce)")
            return nil
        case .unlessAvahiRuns, .always: break
        }
        let announcer = ServiceAnnouncer(
            loop: daemon.loop, name: configuration.announcedName ?? "", host: OperatingSystem.hostName,
            services: services)
        announcer.renamed = { name, host in
            Log.notice("another machine has this name: this one is announced as \"\(name)\", \(host).local")
        }
        do throws(SystemError) {
            try announcer.start()
            return ServerAnnouncement(announcer)
        } catch {
            daemon.problems.set(
                DaemonProblem.discovery,
                "other machines cannot find this one: \(error.description); "
                    + "see [discovery] announce")
            return nil
        }
    }

    /// The names that are announced.
    var names: (name: String, host: String) { (announcer.name, announcer.host) }

    /// Announces the end of the servers. Idempotent.
    package func stop() { announcer.stop() }
}
