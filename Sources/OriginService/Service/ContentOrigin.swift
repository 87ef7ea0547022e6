import Database
import Glibc
import Media
import Platform

/// The self-hosted content service: a music folder, its index, and a server.
///
/// Thread: any.
public final class ContentOrigin: Sendable {
    /// Why it cannot serve, for the user.
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
    private let loudness: LoudnessScan
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
            try MusicScan(index: index, scope: .tree(self.musicFolder)).forgetOthers()
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
        loudness = LoudnessScan(index)
    }

    /// Takes the lock. `logins` and `approve` do not need it: they may run beside a service.
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
        do throws(DatabaseError) {
            return ScanResult(try scan(FolderWatch.Changes(isAll: true), nil))
        } catch {
            throw Failure(description: "index: \(error.description)")
        }
    }

    /// The time between full scans when the kernel cannot watch all folders, in nanoseconds.
    private static let scanInterval: Int64 = 3_600_000_000_000

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
        let watch: FolderWatch
        do throws(SystemError) { watch = try FolderWatch(scans, mountsAround: musicFolder) } catch {
            throw Failure(description: error.description)
        }
        let clock = SystemMonotonicClock()
        var nextOfAll: Int64 = 0
        var changes = FolderWatch.Changes(isAll: true)
        var isTold = false
        var problem: String?
        while true {
            // If changes never cease, the time passes without a wait that times out.
            if changes.isEmpty || !watch.isComplete && clock.now() >= nextOfAll { changes.isAll = true }
            if changes.isAll { nextOfAll = clock.now() + Self.scanInterval }
            do throws(DatabaseError) {
                let result = ScanResult(try scan(changes, watch))
                if !isTold || result.hasChanges { report(result) }
                isTold = true
                problem = nil
            } catch {
                // The same failure is reported only once.
                if problem != error.description { failed(Failure(description: "index: \(error.description)")) }
                problem = error.description
                isTold = false
                // The changes are lost: scan everything.
                changes = FolderWatch.Changes(isAll: true)
                if watch.pause(milliseconds: retryInterval, cancellation) { continue }
                return
            }
            let patience = watch.isComplete ? -1 : Int(max(nextOfAll - clock.now(), 0) / 1_000_000)
            guard let next = watch.wait(milliseconds: patience, cancellation) else { return }
            changes = next
        }
    }

    private func scan(
        _ changes: FolderWatch.Changes, _ watch: FolderWatch?
    ) throws(DatabaseError) -> MusicScan.Summary {
        var summary = MusicScan.Summary()
        func run(_ scope: MusicScan.Scope) throws(DatabaseError) {
            summary += try MusicScan(index: index, scope: scope, watch: watch, root: musicFolder).run()
        }
        if changes.isAll {
            try run(.tree(musicFolder))
        } else {
            for tree in changes.trees { try run(.tree(tree.path)) }
            for file in changes.files { try run(.file(file.path)) }
        }
        try MusicScan.finish(index)
        return summary
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
        let socket: ListeningSocket
        do throws(SystemError) { socket = try ListeningSocket(address: address, port: port) } catch {
            throw Failure(description: error.description)
        }
        do throws(HTTPServer.Refused) {
            let server = try HTTPServer(on: socket, identity: identity) { [routes, faults] request in
                faults.answer(to: request, routes.answer)
            }
            let scheme = identity == nil ? "http" : "https"
            return OriginServer(server, address: "\(scheme)://\(socket.host):\(socket.port)")
        } catch {
            let reason = identity == nil ? "" : ": are the certificate and the key PEM, and do they belong together?"
            throw Failure(description: "the server cannot start\(reason)")
        }
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
    /// The address of the service: `http://127.0.0.1:7470`.
    public let address: String

    init(_ server: HTTPServer, address: String) {
        self.server = server
        self.address = address
    }
}
