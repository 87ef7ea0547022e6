import Database
import Glibc
import Media
import Platform

/// The self-hosted content service: a music folder, its index, and a server.
///
/// Thread: any.
public final class ContentOrigin: Sendable {
    /// Why it cannot serve, for a person.
    public struct Failure: Error, CustomStringConvertible, Sendable {
        public let description: String
    }

    /// What a scan of the music folder found.
    public struct ScanResult: Equatable, Sendable {
        /// Tracks that are served.
        public var tracks: Int
        /// Of them, those that were new or had changed.
        public var read: Int
        /// Files that are gone since the last scan.
        public var gone: Int
        /// Files that look like music and cannot be read.
        public var problems: Int
        /// Playlists that are new, changed or gone.
        public var playlists: Int

        init(_ summary: MusicScan.Summary) {
            tracks = summary.tracks
            read = summary.read
            gone = summary.gone
            problems = summary.problems
            playlists = summary.playlists
        }

        /// Whether anything is other than before.
        public var hasChanges: Bool { read > 0 || gone > 0 || playlists > 0 || problems > 0 }
    }

    /// nil where the state folder cannot be written.
    private let lock: LockFile?
    private let musicFolder: String
    private let index: MusicIndex
    private let routes: ServiceRoutes
    private let faults: FaultInjection
    private let loudness: LoudnessScan
    private let scans: ScanRequests

    /// Opens the index.
    /// - Parameters:
    ///   - musicFolder: its path.
    ///   - stateFolder: for the index and the key of signatures; it is created.
    ///   - faults: what fails on purpose.
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
        // Before the index: what is not in this folder is forgotten there, and another origin would serve nothing more.
        lock = try Self.lock(stateFolder)
        do throws(DatabaseError) {
            index = try MusicIndex(in: stateFolder)
            // Before anything is served.
            try MusicScan(index: index, scope: .tree(self.musicFolder)).forgetOthers()
        } catch {
            throw Failure(description: "\(stateFolder)/index.db: \(error.description)")
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
                scans: scans, now: now)
            self.faults = FaultInjection(faults, now: now)
        } catch {
            throw Failure(description: error.description)
        }
        loudness = LoudnessScan(index)
    }

    /// `logins` and `approve` do without: they may run beside a service.
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

    /// Compares the music folder with the index. It reads the headers of new files, and blocks as long as that takes.
    public func scan() throws(Failure) -> ScanResult {
        do throws(DatabaseError) {
            return ScanResult(try scan(FolderWatch.Changes(isAll: true), nil))
        } catch {
            throw Failure(description: "index: \(error.description)")
        }
    }

    /// Between scans of everything where the kernel cannot watch all folders, in nanoseconds.
    private static let scanInterval: Int64 = 3_600_000_000_000

    /// Scans the music folder, and then what changes in it, until it is cancelled.
    /// - Parameters:
    ///   - retryInterval: after a scan that failed, in milliseconds.
    ///   - report: called with the first result, with all later ones that have changes, and with the first one after a
    ///     failure.
    ///   - failed: called when a scan has failed: the state folder is full, or read-only. Everything is scanned again
    ///     later; meanwhile what is in the index is served.
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
            // Where there is always something new, the time is over without a wait that is.
            if changes.isEmpty || !watch.isComplete && clock.now() >= nextOfAll { changes.isAll = true }
            if changes.isAll { nextOfAll = clock.now() + Self.scanInterval }
            do throws(DatabaseError) {
                let result = ScanResult(try scan(changes, watch))
                if !isTold || result.hasChanges { report(result) }
                isTold = true
                problem = nil
            } catch {
                // Each minute the same is no news.
                if problem != error.description { failed(Failure(description: "index: \(error.description)")) }
                problem = error.description
                isTold = false
                // What was changed is not known any more.
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

    /// Measures the loudness of tracks whose tags do not have it. It decodes them, and blocks as long as that takes.
    /// - Returns: how many tracks were measured.
    public func measureLoudness() throws(Failure) -> Int {
        do throws(DatabaseError) { return try loudness.run() } catch {
            throw Failure(description: "index: \(error.description)")
        }
    }

    /// Ends `measureLoudness` soon.
    public func stop() { loudness.stop() }

    /// Begins to serve.
    /// - Parameters:
    ///   - address: of IPv4 or IPv6, in numbers.
    ///   - port: 0 for one that the kernel chooses.
    ///   - certificate: a PEM file with the certificate and those between it and the root; nil without TLS.
    ///   - key: a PEM file with its private key.
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
    /// Of the service: `http://127.0.0.1:7470`.
    public let address: String

    init(_ server: HTTPServer, address: String) {
        self.server = server
        self.address = address
    }
}
