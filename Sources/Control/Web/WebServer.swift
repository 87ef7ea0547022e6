import Appliance
import Crypto
import Database
import HTTPServer
import Platform
import Player

/// The web server of the daemon: the page, and the HTTP interface. `docs/web.md` describes both.
///
/// Thread: the daemon's. Requests are answered on threads of their own, as clients of the control protocol inside of
/// the process.
public final class WebServer {
    /// The table of the browsers that have logged in, in the state of the appliance.
    public static let schema = WebSessionRows.schema

    /// The most connections at once. A browser has up to six, one of them for events.
    static let connectionLimit: UInt32 = 96
    /// The most connections of one address.
    static let addressLimit: UInt32 = 48

    private let clients: JSONSessions
    private let connections: ControlConnections
    private let thumbnails: Thumbnails
    private let covers: FetchedCovers?
    private var server: HTTPServer?
    /// The port at which the server listens.
    package let port: UInt16
    /// Whether browsers connect over TLS.
    package let isSecure: Bool

    /// The number of requests and streams that are served.
    var clientCount: Int { clients.sessions.count }

    private init(
        _ clients: JSONSessions, _ connections: ControlConnections, _ thumbnails: Thumbnails, _ covers: FetchedCovers?,
        _ server: HTTPServer, port: UInt16, isSecure: Bool
    ) {
        self.clients = clients
        self.connections = connections
        self.thumbnails = thumbnails
        self.covers = covers
        self.server = server
        self.port = port
        self.isSecure = isSecure
    }

    /// Opens the server that the configuration asks for. If the server cannot listen, the daemon publishes the problem
    /// `web`.
    /// - Parameter version: the version of the program.
    /// - Returns: nil when no client may connect.
    public static func open(_ daemon: Daemon, version: String) -> WebServer? {
        guard let address = daemon.settings.configuration.webAddress else { return nil }
        do throws(Refusal) {
            let configuration = daemon.settings.configuration
            // Read before the socket is opened, because the socket accepts connections at once.
            let access = WebAccess(configuration)
            if let problem = access.problem {
                daemon.problems.set(DaemonProblem.web, "nobody can use the web page: \(problem)")
            }
            let socket = try socket(at: address, configuration.webPort)
            return try open(daemon, on: socket, access, version: version)
        } catch {
            daemon.problems.set(DaemonProblem.web, "the web page cannot be reached: \(error.message)")
            return nil
        }
    }

    struct Refusal: Error { var message: String }

    /// - Parameters:
    ///   - socket: a socket that listens. The server closes it.
    ///   - access: the password and the certificate. If it has a problem, the server shows only the problem, and only
    ///     to private networks.
    ///   - pictures: makes thumbnails of covers.
    ///   - source: the covers of the content service; nil for the player's, if there are any.
    static func open(
        _ daemon: Daemon, on socket: ListeningSocket, _ access: WebAccess, version: String,
        pictures: PictureProgram = PictureProgram(PictureProgram.besideThisProgram(), clock: SystemMonotonicClock()),
        covers source: (any CoverSource)? = nil
    ) throws(Refusal) -> WebServer {
        let configuration = daemon.settings.configuration
        let acceptsAll = access.acceptsAll(configuration)
        if configuration.webAcceptsAll, !acceptsAll {
            Log.warning(
                "[web] clients: all needs certificate, key and password-file: only private networks are accepted")
        }
        let clients = JSONSessions(daemon, version: version)
        let loop = daemon.loop
        let connections = ControlConnections { socket, rights in
            loop.post { clients.begin(socket, user: nil, rights: rights, showsIDs: false) }
        }
        let random = SystemRandomSource()
        let sessions = WebSessions(daemon.environment.storage, password: access.password ?? [], random: random) {
            connections.end(session: $0)
        }
        let folders = MusicFolders(paths: configuration.libraryFolders + [configuration.playlistFolder])
        let thumbnails = Thumbnails(
            ThumbnailFolder("\(configuration.cacheFolder)/cover-thumbnails", limit: configuration.thumbnailBytes),
            pictures)
        let covers = (source ?? daemon.player.covers).map {
            FetchedCovers(
                $0, KnownCovers("\(configuration.cacheFolder)/service-covers"), clock: daemon.environment.clock)
        }
        let captive = configuration.wifiFolder.map {
            CaptivePage(folder: WiFiFolder(path: $0), port: UInt16(truncatingIfNeeded: socket.port))
        }
        let service = WebService(
            name: configuration.announcedName ?? OperatingSystem.hostName,
            guardian: WebGuard(
                names: configuration.webNames, acceptsAll: acceptsAll,
                token: hexadecimal(random.bytes(16))),
            logins: WebLogins(access, sessions: sessions, clock: daemon.environment.clock) { captive?.folder.address },
            files: PageFiles(folder: configuration.webFolder),
            pictures: WebPictures(library: daemon.library, folders: folders, thumbnails: thumbnails, covers: covers),
            folders: folders, connections: connections,
            captive: captive)
        var limits = HTTPServer.Limits()
        limits.connections = connectionLimit
        limits.ofAddress = addressLimit
        let port = UInt16(truncatingIfNeeded: socket.port)
        let server: HTTPServer
        do throws(HTTPServer.Refused) {
            if let identity = access.identity {
                // Phones request the page of a network without TLS.
                server = try HTTPServer(
                    on: socket, tls: identity, limits: limits, plainAddress: { captive?.folder.address },
                    service.service)
            } else {
                server = try HTTPServer(on: socket, identity: nil, limits: limits, service.service)
            }
        } catch {
            throw Refusal(message: "the server cannot start: there is no memory or thread left")
        }
        if access.password != nil { sessions.load() }
        clients.start()
        return WebServer(clients, connections, thumbnails, covers, server, port: port, isSecure: access.identity != nil)
    }

    /// Returns the password; nil without a file.
    static func password(_ path: String?) throws(Refusal) -> [UInt8]? {
        guard let path else { return nil }
        let text: [UInt8]
        do throws(SystemError) { text = try File.contents(of: path, limit: 1 << 12) } catch {
            throw Refusal(message: error.description)
        }
        let line = text.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard !line.isEmpty else { throw Refusal(message: "\(path): its first line must be the password") }
        return Array(line)
    }

    private static func socket(at address: String, _ port: Int) throws(Refusal) -> ListeningSocket {
        let isAny = address.utf8.elementsEqual("any".utf8)
        do throws(SystemError) { return try ListeningSocket(address: isAny ? "::" : address, port: port) } catch {
            // Falls back to IPv4, because a kernel may lack IPv6.
            if isAny, let socket = try? ListeningSocket(address: "0.0.0.0", port: port) { return socket }
            throw Refusal(message: error.description)
        }
    }

    /// Ends the requests and streams, without waiting for them. Idempotent.
    public func close() {
        connections.close()
        thumbnails.end()
        covers?.end()
        clients.stop()
    }

    /// Waits for the threads of the connections, which may read from a slow medium. Call it after `close`, when
    /// everything else is stored. Idempotent.
    public func stop() {
        close()
        server = nil
    }
}
