import Appliance
import Library
import Platform
import Player
import Queue

/// The parts of the daemon that the commands use, and further values that only MPD's protocol has.
///
/// Thread: the daemon's. `@unchecked Sendable` is safe because only that thread uses it; closures of other threads pass
/// it back.
final class MPDPlayer: @unchecked Sendable {
    let daemon: Daemon
    let paths: MusicURIs
    var passwords: MPDPasswords
    /// The level of a client without a password.
    let standardPermission: MPDPermission
    var channels = MPDChannels()
    private(set) var versions: MPDQueueVersions
    /// Entries that come before others while the queue is shuffled. A missing one has priority 0.
    private(set) var priorities: [EntryID: UInt8] = [:]
    /// The message of the last entry that failed, until the user plays or clears it.
    var failure: String?
    /// Notifies these clients of a change; all clients for nil.
    var notify: (MPDSubsystems, [UInt64]?) -> Void = { _, _ in }
    private let row: MPDVersionRow
    private var lastReserved: UInt32 = .max
    /// The time and the configured device at the start. A device that is configured later applies after the next start.
    private let atStart: (time: Int64, device: String?)
    /// The state that was last reported to clients.
    private var told = MPDShown()
    /// Whether `single` has also switched `repeat` on. Then ending `single` switches `repeat` off.
    var isRepeatOfSingle = false

    init(_ daemon: Daemon, passwords: MPDPasswords, permission: MPDPermission) {
        self.daemon = daemon
        self.passwords = passwords
        paths = MusicURIs(folders: daemon.settings.configuration.libraryFolders)
        standardPermission = permission
        versions = MPDQueueVersions(startingAt: 1)
        row = MPDVersionRow(storage: daemon.environment.storage)
        atStart = (daemon.environment.clock.now(), daemon.settings.configuration.device)
    }

    /// Reads the version of the queue, and then calls `ready`.
    func start(_ ready: @escaping () -> Void) {
        // Safe: the storage thread passes it back to the loop and does not call it.
        nonisolated(unsafe) let ready = ready
        let loop = daemon.loop
        row.reserve { [self] first in
            loop.post { [self] in
                versions = MPDQueueVersions(startingAt: first)
                lastReserved = first + MPDVersionRow.block - 1
                _ = versions.update(contents.playOrder)
                told = shown
                ready()
            }
        }
    }

    var queue: QueueConductor { daemon.queue }
    var contents: PlayQueue { daemon.queue.contents }
    /// In seconds.
    var uptime: Int64 { (daemon.environment.clock.now() - atStart.time) / 1_000_000_000 }

    /// The number of running command lists. The changes of a list are reported at its end, as one change.
    private(set) var listCount = 0

    func holdChanges() { listCount += 1 }

    func releaseChanges() {
        listCount -= 1
        if listCount == 0 { released() }
    }

    /// Called when the last running command list has ended.
    var released: () -> Void = {}

    func report(_ parts: MPDSubsystems, to clients: [UInt64]? = nil) { notify(parts, clients) }

    // MARK: Changes

    /// Translates a change of the daemon.
    func receive(_ event: DaemonEvent) {
        switch event {
        // `takeChanges` determines the visible changes, whatever their cause.
        case .state, .track, .volume, .configuration: notify([], nil)
        case .queue: queueChanged()
        case .positionJumped: notify(.player, nil)
        case .library: notify([.database, .update], nil)
        case .failed(_, let error):
            failure = error.message
            notify(.player, nil)
        case .playlists: notify(.storedPlaylist, nil)
        case .problems, .offline: break
        }
    }

    /// Shows a failure as the `error` of `status`.
    func failed(_ message: String) {
        Log.warning(message)
        failure = message
        notify(.player, nil)
    }

    private func queueChanged() {
        let queue = contents
        var parts: MPDSubsystems = []
        if versions.update(queue.playOrder) {
            parts.insert(.playlist)
            reserveVersions()
            if !priorities.isEmpty { priorities = priorities.filter { queue.contains($0.key) } }
        }
        if queue.repeatMode != .one { isRepeatOfSingle = false }
        notify(parts, nil)
    }

    /// The name of the output. Clients choose an output by its name, so the name does not change when the device is
    /// closed.
    var outputName: String { atStart.device ?? "sound device" }

    /// The state as clients see it now.
    private var shown: MPDShown {
        MPDShown(
            daemon, state: state, isOutputEnabled: daemon.focus.level != .none,
            context: queue.isAnnounced ? daemon.player.playbackEngine.playbackContext : nil)
    }

    /// Returns the parts whose visible state has changed since the last call.
    func takeChanges() -> MPDSubsystems {
        let now = shown
        defer { told = now }
        return now.changes(since: told)
    }

    /// Stores another block of versions before the current block is used up.
    private func reserveVersions() {
        guard versions.version >= lastReserved else { return }
        lastReserved = versions.version &+ MPDVersionRow.block - 1
        row.reserve { _ in }
    }

    // MARK: Entries

    /// Returns the entry with an id.
    func entry(_ text: String) throws(MPDFailure) -> EntryID {
        let id = EntryID(try MPDNumbers.id(text))
        guard contents.contains(id) else { throw MPDNumbers.noSuchSong }
        return id
    }

    /// Returns the entry at a position.
    func entry(at text: String) throws(MPDFailure) -> EntryID {
        let order = contents.playOrder
        let place = try MPDNumbers.unsigned(text)
        guard order.indices.contains(place) else { throw MPDNumbers.badIndex }
        return order[place]
    }

    /// Returns a position to insert at: a number, or `+N` and `-N` for positions relative to the current entry.
    func place(_ text: String, count: Int) throws(MPDFailure) -> Int {
        guard let sign = text.utf8.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else {
            return try MPDNumbers.integer(text, 0...count)
        }
        guard let current = contents.current, let index = contents.index(of: current) else {
            throw MPDFailure(.playerSync, "No current song")
        }
        let rest = String(decoding: text.utf8.dropFirst(), as: UTF8.self)
        if sign == UInt8(ascii: "+") {
            return index + 1 + (try MPDNumbers.integer(rest, 0...max(0, count - index - 1)))
        }
        return index - (try MPDNumbers.integer(rest, 0...index))
    }

    func edit(_ change: (inout PlayQueue) throws(PlayQueueError) -> Void) throws(MPDFailure) {
        do throws(PlayQueueError) { try queue.edit(change) } catch { throw MPDFailure(error) }
    }

    /// - Parameter places: positions in the queue.
    func setPriority(_ priority: UInt8, at places: [Int]) throws(MPDFailure) {
        let order = contents.playOrder
        for place in places { priorities[order[place]] = priority == 0 ? nil : priority }
        versions.touch(places)
        reserveVersions()
        try orderByPriority()
        notify(.playlist, nil)
    }

    /// While the queue is shuffled, the entries with the highest priority follow the current one.
    private func orderByPriority() throws(MPDFailure) {
        guard contents.isShuffled, !priorities.isEmpty else { return }
        let known = priorities
        try edit { queue throws(PlayQueueError) in
            let first = queue.current.flatMap { queue.index(of: $0) }.map { $0 + 1 } ?? 0
            queue.reorder { order in
                let rest = order[first...]
                let early = rest.filter { known[$0] != nil }.enumerated().sorted { one, other in
                    let (left, right) = (known[one.element] ?? 0, known[other.element] ?? 0)
                    return left == right ? one.offset < other.offset : left > right
                }
                order = Array(order[..<first]) + early.map { $0.element } + rest.filter { known[$0] == nil }
            }
        }
    }

    // MARK: The thread of queries

    /// Runs `body` on the thread of queries, or on the daemon's thread without a library. Passes the result to `answer`
    /// on the daemon's thread.
    func query<Value: Sendable>(
        tags: MPDTags = .all, _ answer: @escaping (Result<Value, MPDFailure>) -> Void,
        _ body: @escaping @Sendable (MPDDatabase?) -> Result<Value, MPDFailure>
    ) {
        // Safe: the thread of queries passes the closure back and does not call it.
        nonisolated(unsafe) let answer = answer
        let (loop, paths) = (daemon.loop, paths)
        guard let library = daemon.library else {
            return loop.post { answer(body(nil)) }
        }
        library.withIndex { index in
            let result = body(index.map { MPDDatabase($0, paths, tags: tags) })
            loop.post { answer(result) }
        }
    }

    /// Answers from the index.
    func query(
        _ client: MPDClient, _ body: @escaping @Sendable (MPDDatabase) throws(MPDFailure) -> MPDAnswer
    ) -> MPDStep {
        let tags = client.tags
        return .later { [self] answer in
            query(tags: tags, answer) { database -> Result<MPDAnswer, MPDFailure> in
                guard let database else { return .failure(.noDatabase) }
                do throws(MPDFailure) { return .success(try body(database)) } catch { return .failure(error) }
            }
        }
    }
}

extension MPDFailure {
    static let noDatabase = MPDFailure(.noSuchObject, "No database")

    init(_ error: PlayQueueError) {
        switch error {
        case .noSuchEntry: self = MPDNumbers.noSuchSong
        case .full, .idsTooLong: self.init(.playlistTooLarge, "playlist is at the max size")
        case .productIdTooLong: self.init(.argument, error.description)
        }
    }

    init(_ error: RemoteFailure) {
        let code: Code =
            switch error.reason {
            case .noSuchFile, .noMusic, .noSuchEntry, .notOfService: .noSuchObject
            case .queueFull: .playlistTooLarge
            case .badRequest, .badSetting: .argument
            default: .system
            }
        self.init(code, error.message)
    }
}
