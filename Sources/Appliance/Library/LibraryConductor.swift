import Database
import Library
import Platform

/// The library of the daemon: a thread keeps its index up to date, another one answers queries. Reads and changes of
/// stored playlists have a thread each, so that long ones delay no query.
///
/// Thread: everything runs on the thread of `loop`. `@unchecked Sendable` is safe because other threads only post to
/// `loop`, and use `index`, which a lock guards.
public final class LibraryConductor: @unchecked Sendable {
    let loop: EventLoop
    package let storage: StorageThread
    private let folders: [String]
    /// Converts between paths in the folders and relative URIs.
    package let uris: MusicURIs
    private let path: String
    private let index = OpenedIndex()
    /// Used on the threads of playlists.
    package let playlists: PlaylistFolder
    /// The favourites in the state.
    let favourites = FavouriteSet()
    private let tasks: Tasks
    private let reports: Reports

    /// The receivers of the library's results.
    struct Reports {
        /// Called on `loop` when a scan has changed the library, or has failed.
        let changed: (LibraryStatus) -> Void
        /// Called on `loop` with a problem for the user, or nil at its end.
        let problem: (String?) -> Void
        /// Called on the thread of the scan after a complete scan that found files missing.
        let filesGone: @Sendable (LibraryConductor) -> Void
    }

    /// The means to wake, pause and stop the threads.
    private struct Tasks {
        let requests: ScanRequests
        let cancellation: Cancellation
        let control = ScanControl(isOnBattery: { MachinePower().isOnBattery })
        let queries: EventLoop
        let playlistReads: EventLoop
        let playlistChanges: EventLoop

        init() throws(SystemError) {
            requests = try ScanRequests()
            cancellation = try Cancellation()
            queries = try EventLoop()
            playlistReads = try EventLoop()
            playlistChanges = try EventLoop()
        }
    }

    /// - Parameters:
    ///   - folders: absolute paths; empty for a daemon with stored playlists only.
    ///   - path: the file of the index.
    ///   - playlists: the folder of the stored playlists.
    /// - Throws: when the process has no file descriptor left.
    init(
        _ folders: [String], index path: String, playlists: String, loop: EventLoop, storage: StorageThread,
        reports: Reports
    ) throws(SystemError) {
        self.folders = folders
        self.path = path
        let uris = MusicURIs(folders: folders)
        self.uris = uris
        self.playlists = PlaylistFolder(playlists, musicPath: { uris.musicPath($0) })
        self.loop = loop
        self.storage = storage
        self.reports = reports
        tasks = try Tasks()
    }

    /// Starts the threads. The first scan begins at once, with the lowest priority for the processor and the disk.
    func start() {
        loop.assertOnLoop()
        do throws(SystemError) {
            if !folders.isEmpty {
                _ = try NamedThread.start(name: "library", priority: .background, stackSize: 512 << 10) { [self] in
                    follow()
                }
            }
            let (tasks, playlists) = (tasks, playlists)
            tasks.playlistChanges.post { playlists.removeLeftovers() }
            storage.query { [favourites] database in favourites.load(database) }
            _ = try NamedThread.start(name: "library query", stackSize: 256 << 10) { tasks.queries.run() }
            _ = try NamedThread.start(name: "playlist read", stackSize: 256 << 10) { tasks.playlistReads.run() }
            _ = try NamedThread.start(name: "playlist write", stackSize: 256 << 10) { tasks.playlistChanges.run() }
        } catch {
            reports.problem("the library cannot be used: \(error.description)")
        }
    }

    /// Ends the scan before its next file. Does not wait for the end, because a medium may be slow.
    func stop() {
        loop.assertOnLoop()
        tasks.control.stop()
        tasks.cancellation.cancel()
        tasks.queries.stop()
        tasks.playlistReads.stop()
        tasks.playlistChanges.stop()
    }

    // MARK: The library thread

    private func follow() {
        guard let index = open() else { return }
        self.index.set(index)
        let handover = ContentHandover(storage, favourites)
        let loudness = IdentifiedLoudness(folders: folders, storage: storage) { [self] in withIndex($0) }
        let follower = MusicFollower(
            index, folders: folders, rules: .player, requests: tasks.requests, control: tasks.control,
            seconds: { SystemTime.clockMilliseconds() / 1000 }, musicPath: uris.musicPath,
            changed: { handover.run(index) })
        do throws(SystemError) {
            try follower.follow(tasks.cancellation) { [self] summary in
                Log.info(
                    "library: \(summary.tracks) tracks looked at, \(summary.read) read, \(summary.gone) gone, "
                        + "\(summary.problems) unreadable")
                handover.run(index)
                if summary.gone > 0 { reports.filesGone(self) }
                loudness.run()
                let problem = Self.problem(ofLinks: summary.linksOut)
                loop.post { [self] in scanned(problem: problem) }
            } failed: { [self] error in
                let problem = "the library cannot be written: \(error.description)"
                loop.post { [self] in scanned(problem: problem) }
            }
        } catch {
            let problem = "the music folders cannot be watched: \(error.description)"
            loop.post { [self] in reports.problem(problem) }
        }
    }

    /// - Parameter links: the links that lead out of the music folders.
    private static func problem(ofLinks links: [String]) -> String? {
        guard let first = links.first else { return nil }
        let others = links.count > 1 ? ", and \(links.count - 1) more" : ""
        return "\(first)\(others): a link out of the music folders, which is not followed; "
            + "add the folder that it leads to to [library] folders"
    }

    private func scanned(problem: String?) {
        reports.problem(problem)
        status { [self] status in loop.post { [self] in reports.changed(status) } }
    }

    /// Opens the index. A damaged index, or one of a newer version, is created again, because the index is a cache.
    private func open() -> MusicIndex? {
        do throws(DatabaseError) { return try MusicIndex(path) } catch {
            switch error.kind {
            case .corrupt, .newerSchema: break
            default: return fail(error.description)
            }
            Log.warning("the index of the library is made anew: \(error.description)")
        }
        do throws(SystemError) { try MusicIndex.remove(path) } catch { return fail(error.description) }
        do throws(DatabaseError) { return try MusicIndex(path) } catch { return fail(error.description) }
    }

    private func fail(_ reason: String) -> MusicIndex? {
        loop.post { [self] in reports.problem("the library cannot be opened: \(reason)") }
        return nil
    }

    // MARK: Requests

    typealias Answer = (Result<LibraryReply, RemoteFailure>) -> Void

    func perform(_ request: LibraryRequest, _ answer: @escaping Answer) {
        loop.assertOnLoop()
        if folders.isEmpty, request.needsIndex {
            return answer(.failure(RemoteFailure(.noMusic, "there is no library: [library] folders is none")))
        }
        // Safe: the other threads pass it back to the loop and do not call it.
        nonisolated(unsafe) let answer = answer
        let loop = loop
        @Sendable func pass(_ result: Result<LibraryReply, RemoteFailure>) {
            loop.post { answer(result) }
        }
        switch request {
        case .scan:
            scan()
            status { status in pass(.success(.status(status))) }
        case .status: status { status in pass(.success(.status(status))) }
        case .heard(.played, let page): listPlayed(page, pass)
        case .heard(.history, let page): listHistory(page, pass)
        case .heard(.favourites, let page): listFavourites(page, pass)
        case .favourite(let path, let isOn): setFavourite(path ?? "", isOn, pass)
        case .search(let words, let page):
            query(pass) { [favourites] index throws(RemoteFailure) in
                try LibraryQueries(index, favourites).search(words, page)
            }
        case .list(let list, let of, let page):
            query(pass) { [favourites] index throws(RemoteFailure) in
                try LibraryQueries(index, favourites).list(list, of, page)
            }
        }
    }

    /// Runs `body` on the thread of queries.
    private func query(
        _ answer: @escaping @Sendable (Result<LibraryReply, RemoteFailure>) -> Void,
        _ body: @escaping @Sendable (MusicIndex) throws(RemoteFailure) -> LibraryReply
    ) {
        tasks.queries.post { [self] in
            guard let index = index.value else {
                return answer(.failure(RemoteFailure(.system, "the library is not open yet, or cannot be opened")))
            }
            do throws(RemoteFailure) { answer(.success(try body(index))) } catch { answer(.failure(error)) }
        }
    }

    /// Whether a scan runs.
    package var isScanning: Bool { tasks.control.progress.isRunning }

    /// Begins to compare all folders with the index.
    package func scan() { tasks.requests.addAll() }

    /// Runs `body` on the thread of queries, with the index once it is open.
    package func withIndex(_ body: @escaping @Sendable (MusicIndex?) -> Void) {
        let index = index
        tasks.queries.post { body(index.value) }
    }

    /// Runs `body` on the thread that reads playlists.
    package func readPlaylists(_ body: @escaping @Sendable () -> Void) { tasks.playlistReads.post(body) }

    /// Runs `body` on the thread that changes playlists.
    package func changePlaylists(_ body: @escaping @Sendable () -> Void) { tasks.playlistChanges.post(body) }

    /// The index once it is open. Any thread.
    var openedIndex: MusicIndex? { index.value }

    private func status(_ answer: @escaping @Sendable (LibraryStatus) -> Void) {
        var status = LibraryStatus()
        status.folders = folders
        let (known, control) = (status, tasks.control)
        tasks.queries.post { [self] in
            var status = index.value.map { LibraryQueries($0, favourites).status(known) } ?? known
            status.progress = control.progress
            answer(status)
        }
    }

    /// The index once it is open.
    /// `@unchecked Sendable` is safe because `lock` guards it.
    private final class OpenedIndex: @unchecked Sendable {
        private let lock = Lock()
        private var stored: MusicIndex?

        var value: MusicIndex? { lock.withLock { stored } }
        func set(_ index: MusicIndex) { lock.withLock { stored = index } }
    }
}
