import Database
import Glibc
import HTTPServer
import Library
import Media
import Platform

/// The self-hosted content service: a music folder, its index, and a server.
///
/// Thread: any.
public final class ContentOrigin: Sendable {
    /// Why the origin cannot serve, for the user.
    public struct Failure: Error, CustomStringConvertible, Sendable {
        public let description: String
    }

    /// The result of a scan of the music folder.
    public struct ScanResult: Equatable, Sendable {
        /// The number of tracks that are served.
        public var tracks: Int
        /// The number of tracks that were new or had changed.
        public var read: Int
        /// The number of files that are gone since the last scan.
        public var gone: Int
        /// The number of files that look like music and cannot be read.
        public var problems: Int
        /// The number of playlists that are new, changed or gone.
        public var playlists: Int

        init(_ summary: MusicScan.Summary) {
            tracks = summary.tracks
            read = summary.read
            gone = summary.gone
            problems = summary.problems
            playlists = summary.playlists
        }

        /// Whether anything has changed.
        public var hasChanges: Bool { read > 0 || gone > 0 || playlists > 0 || problems > 0 }
    }

    /// The lock; nil when the state folder cannot be written.
    private let lock: LockFile?
    private let musicFolder: String
    private let index: MusicIndex
    private let routes: ServiceRoutes
    private let faults: FaultInjection
    private let loudness: ServedLoudnessScan
    private let scans: ScanRequests

    /// Opens the index.
    /// - Parameters:
    ///   - musicFolder: the path of the music folder.
    ///   - stateFolder: the folder for the index and the signing key; it is created.
    ///   - faults: the faults to inject.
    public init(
        musicFolder: String, stateFolder: String, settings: OriginSettings = OriginSettings(),
        faults: FaultPlan = FaultPlan()
    ) throws(Failure) {
        do throws(SystemError) {
            self.musicFolder = try Folder.resolved(musicFolder)
            try Folder.create(stateFolder, mode: 0o700)
        } catch {
            throw Failure(description: error.description)
        }
        guard FileKind(at: self.musicFolder) == .folder else {
            throw Failure(description: "\(musicFolder): not a folder")
        }
        // Before the index is opened: files outside this folder are forgotten there, so another origin would lose its
        // tracks.
        lock = try Self.lock(stateFolder)
        do throws(DatabaseError) {
            index = try MusicIndex(in: stateFolder)
            // Before any request is served.
            try MusicScan(index: index, scope: .tree(self.musicFolder), rules: .service).forgetOthers()
        } catch {
            throw Failure(description: "\(stateFolder)/index.db: \(error.description)")
        }
        let events: EventStore
        do throws(DatabaseError) { events = try EventStore(in: stateFolder) } catch {
            throw Failure(description: "\(stateFolder)/events.db: \(error.description)")
        }
        let logins = settings.requiresLogin ? try DeviceLogins(stateFolder: stateFolder) : nil
        do throws(SystemError) {
            scans = try ScanRequests()
            let key = try SigningKey.load(from: "\(stateFolder)/signing.key")
            let now: @Sendable () -> Int64 = { Int64(time(nil)) }
            let encoded: EncodedTracks? =
                if let encoder = settings.encoder {
                    try EncodedTracks(
                        program: encoder, folder: "\(stateFolder)/encoded", limit: settings.encodedLimit)
                } else { nil }
            let contents = TrackContents(
                index: index, encoded: encoded, secret: settings.isEncrypted ? ContentSecret(key) : nil)
            routes = ServiceRoutes(
                index: index, settings: settings, signer: URLSigner(key: key), contents: contents, logins: logins,
                scans: scans, events: events, now: now)
            self.faults = FaultInjection(faults, now: now)
        } catch {
            throw Failure(description: error.description)
        }
        loudness = ServedLoudnessScan(index)
    }

    /// Takes the lock. `logins` and `approve` do not need it: they may run at the same time as a service.
    private static func lock(_ stateFolder: String) throws(Failure) -> LockFile? {
        do throws(LockFile.Refusal) { return try LockFile("\(stateFolder)/lock") } catch {
            switch error {
            case .held(let process):
                let holder = process.map { " (process \($0))" } ?? ""
                throw Failure(
                    description: "\(stateFolder): another tonearm-origin runs with this state\(holder); "
                        + "give this one another folder with --state")
            case .system(let error):
                Log.warning("the state folder is not locked: \(error.description)")
                return nil
            }
        }
    }

    /// Compares the music folder with the index. Blocks while it reads the headers of new files.
    public func scan() throws(Failure) -> ScanResult {
        do throws(DatabaseError) { return ScanResult(try follower.scan()) } catch {
            throw Failure(description: "index: \(error.description)")
        }
    }

    private var follower: MusicFollower {
        MusicFollower(index, folders: [musicFolder], rules: .service, requests: scans, seconds: { Int64(time(nil)) })
    }

    /// Scans the music folder, and then each change in it, until it is cancelled.
    /// - Parameters:
    ///   - retryInterval: the delay after a failed scan, in milliseconds.
    ///   - report: called with the first result, with later ones that have changes, and with the first one after a
    ///     failure.
    ///   - failed: called when a scan has failed, because the state folder is full or read-only. Everything is scanned
    ///     again later; meanwhile the tracks of the index are served.
    public func follow(
        _ cancellation: Cancellation, retryInterval: Int = 60_000, _ report: (ScanResult) -> Void,
        failed: (Failure) -> Void
    ) throws(Failure) {
        do throws(SystemError) {
            try follower.follow(cancellation, retryInterval: retryInterval) {
                report(ScanResult($0))
            } failed: {
                failed(Failure(description: "index: \($0.description)"))
            }
        } catch {
            throw Failure(description: error.description)
        }
    }

    /// Measures the loudness of tracks whose tags do not have it. Blocks while it decodes them.
    /// - Returns: the number of measured tracks.
    public func measureLoudness() throws(Failure) -> Int {
        do throws(DatabaseError) { return try loudness.run() } catch {
            throw Failure(description: "index: \(error.description)")
        }
    }

    /// Ends `measureLoudness` soon.
    public func stop() { loudness.stop() }

    /// Begins to serve.
    /// - Parameters:
    ///   - address: a numeric address of IPv4 or IPv6.
    ///   - port: the port; 0 lets the kernel choose one.
    ///   - certificate: a PEM file with the certificate and the intermediate ones; nil without TLS.
    ///   - key: a PEM file with the private key of the certificate.
    public func serve(address: String, port: Int, certificate: String?, key: String?) throws(Failure) -> OriginServer {
        let identity = try Self.identity(certificate, key)
        let (socket, sockets): (ListeningSocket, PrivilegeSockets)
        do throws(SystemError) {
            socket = try ListeningSocket(address: address, port: port)
            sockets = try PrivilegeSockets(sessions: routes.settings.sessions) { Self.milliseconds }
        } catch {
            throw Failure(description: error.description)
        }
        var routes = routes
        routes.privileges = PrivilegeRoutes(sockets, publicAddress: routes.settings.publicAddress, now: routes.now)
        var service = HTTPService { [routes, faults] request in
            faults.answer(to: request) { routes.answer(to: $0, socketFault: $1) }
        }
        service.bodyLimit = ServiceRoutes.bodyLimit
        service.refuse = { refusal, _ in HTTPAnswer.refusal(refusal) }
        do throws(HTTPServer.Refused) {
            let server = try HTTPServer(on: socket, identity: identity, service)
            let scheme = identity == nil ? "http" : "https"
            return OriginServer(server, sockets, address: "\(scheme)://\(socket.host):\(socket.port)")
        } catch {
            sockets.stop()
            let reason = identity == nil ? "" : ": are the certificate and the key PEM, and do they belong together?"
            throw Failure(description: "the server cannot start\(reason)")
        }
    }

    /// The present time since 1970.
    private static var milliseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    private static func identity(_ certificate: String?, _ key: String?) throws(Failure) -> HTTPServer.Identity? {
        guard let certificate, let key else { return nil }
        do throws(SystemError) {
            return HTTPServer.Identity(certificate: try text(of: certificate), key: try text(of: key))
        } catch {
            throw Failure(description: error.description)
        }
    }

    private static func text(of file: String) throws(SystemError) -> String {
        String(decoding: try File.contents(of: file, limit: 1 << 20), as: UTF8.self)
    }
}

/// A server that serves as long as this object lives.
public final class OriginServer: Sendable {
    private let server: HTTPServer
    private let sockets: PrivilegeSockets
    /// The address of the service: `http://127.0.0.1:7470`.
    public let address: String

    init(_ server: HTTPServer, _ sockets: PrivilegeSockets, address: String) {
        self.server = server
        self.sockets = sockets
        self.address = address
    }

    deinit { closeSockets() }

    /// The number of open WebSockets.
    var socketCount: Int { sockets.connectionCount }

    /// Asks the players that are connected for their privileges to connect again, and closes their WebSockets. Waits a
    /// second at most. Idempotent.
    public func closeSockets() { sockets.stop() }
}
