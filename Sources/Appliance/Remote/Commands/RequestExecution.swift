import PCM
import Platform
import Player

/// Why a request that was understood could not be carried out. Nothing has changed.
struct RemoteFailure: Error, Equatable {
    /// For programs.
    let code: String
    let message: String

    init(_ code: String, _ message: String) {
        self.code = code
        self.message = message
    }

    init(_ error: PlayQueueError) {
        let code =
            switch error {
            case .noSuchEntry: "no-such-entry"
            case .full: "queue-full"
            case .productIdTooLong: "bad-request"
            }
        self.init(code, error.description)
    }

    fileprivate static func noSuchIndex(_ index: Int, of count: Int) -> RemoteFailure {
        RemoteFailure("no-such-entry", "no entry at index \(index): there are \(count)")
    }
}

/// Carries requests out: what each means to the daemon, and what is told in reply.
///
/// Thread: the daemon's.
struct RequestExecution {
    typealias Members = [JSONValue.Member]

    /// A page of the queue takes about this many bytes at most, so that a reply is no longer than a request may be.
    private static let pageBytes = 60 << 10

    let daemon: Daemon
    /// Of the program.
    let version: String

    private var conductor: QueueConductor { daemon.conductor }

    var status: Members { ReplyLines.members(daemon.status) }

    /// - Parameter client: who asks, for what is held for it.
    /// - Returns: what the reply tells.
    func perform(_ request: RemoteRequest, for client: UInt64) throws(RemoteFailure) -> Members {
        switch request {
        case .status, .subscribe, .unsubscribe: return status
        case .version: return [Self.member("version", .string(version)), Self.member("protocol", 1)]
        case .command(let command): try perform(command)
        case .play(let place): try play(place)
        case .seek(let change): try seek(change)
        case .volume(let change): return changeVolume(change)
        case .mute(let on): return mute(on)
        case .shuffle(let on): conductor.setShuffled(on)
        case .repeatMode(let mode): conductor.setRepeatMode(mode)
        case .queue(let from, let count): return page(from, count)
        case .collect, .music: preconditionFailure("music has to be found first")
        case .queueMove(let id, let index):
            try edit { queue throws(PlayQueueError) in try queue.move(id, to: index) }
        case .queueRemove(let selection): return [Self.member("removed", JSONValue(try remove(selection)))]
        case .queueClear: try edit { queue throws(PlayQueueError) in queue.clear() }
        case .focus(let level, let isHeld):
            if isHeld { daemon.holdFocus(level, by: client) } else { daemon.setFocus(level) }
        case .power(let state): daemon.setPower(state)
        case .configurationGet(let name):
            return [ReplyLines.settings(name.map { [$0] } ?? SettingName.allCases, of: daemon.configuration)]
        case .configurationSet(let name, let text): return [try set(name, text)]
        case .configurationUnset(let name): return [try unset(name)]
        }
        return []
    }

    /// Calls `action` when what was asked for has happened: what came into the queue is on the medium, and others can
    /// open the device that they were given.
    func whenDone(_ request: RemoteRequest, _ action: @escaping () -> Void) {
        switch request {
        case .music:
            daemon.afterWriting { [daemon] in
                action()
                daemon.giveBackMemory()
            }
        case .queueMove, .queueRemove, .queueClear, .shuffle, .repeatMode, .configurationSet,
            .configurationUnset:
            daemon.afterWriting(action)
        case .focus, .power:
            nonisolated(unsafe) let action = action
            daemon.afterRequests { action() }
        default: action()
        }
    }

    func holdsSomething(for client: UInt64) -> Bool { daemon.isFocusHeld(by: client) }

    /// Gives back what a client holds.
    func forget(_ client: UInt64) { daemon.releaseFocus(by: client) }

    private static func member(_ name: String, _ value: JSONValue) -> JSONValue.Member { JSONValue.Member(name, value) }

    // MARK: Playback

    private func perform(_ command: ApplianceCommand) throws(RemoteFailure) {
        switch command {
        case .toggle, .next, .previous: try checkIsNotEmpty()
        default: break
        }
        daemon.perform(command)
    }

    private func checkIsNotEmpty() throws(RemoteFailure) {
        if conductor.queue.isEmpty { throw RemoteFailure("empty-queue", "nothing to play: the queue is empty") }
    }

    private func play(_ place: RemoteRequest.EntryPlace?) throws(RemoteFailure) {
        try checkIsNotEmpty()
        if let place {
            let id =
                switch place {
                case .id(let id): id
                case .index(let index): try entry(at: index)
                }
            do throws(PlayQueueError) { try conductor.select(id) } catch { throw RemoteFailure(error) }
        }
        daemon.perform(.play)
    }

    private func entry(at index: Int) throws(RemoteFailure) -> EntryID {
        let order = conductor.queue.playOrder
        guard order.indices.contains(index) else { throw .noSuchIndex(index, of: order.count) }
        return order[index]
    }

    private func seek(_ change: RemoteRequest.Change) throws(RemoteFailure) {
        guard conductor.queue.current != nil else { throw RemoteFailure("nothing-current", "nothing to seek in") }
        switch change {
        case .to(let position): conductor.seek(to: position)
        case .by(let offset): conductor.seek(to: conductor.position + offset)
        }
    }

    private func changeVolume(_ change: RemoteRequest.Change) -> Members {
        switch change {
        case .to(let percent): daemon.setVolume(percent: Int(percent))
        case .by(let percent): daemon.changeVolume(by: Int(percent))
        }
        return volume
    }

    private func mute(_ on: Bool?) -> Members {
        daemon.setMuted(on ?? !daemon.player.playbackEngineConfig.isMuted)
        return volume
    }

    private var volume: Members {
        let configuration = daemon.player.playbackEngineConfig
        return [
            Self.member("volume", JSONValue(configuration.volume.percent)),
            Self.member("muted", .boolean(configuration.isMuted)),
        ]
    }

    // MARK: The queue

    private func page(_ from: Int, _ count: Int) -> Members {
        let queue = conductor.queue
        let start = min(from, queue.count)
        var bytes = 0
        var entries: [JSONValue] = []
        for entry in queue.entries(start..<min(start + count, queue.count)) {
            let value: JSONValue = [
                "entry": .integer(Int64(entry.id.number)), "file": .string(entry.product.productId),
                "current": .boolean(entry.id == queue.current),
            ]
            bytes += value.serialized().utf8.count + 1
            if bytes > Self.pageBytes, !entries.isEmpty { break }
            entries.append(value)
        }
        return [
            Self.member("count", JSONValue(queue.count)), Self.member("from", JSONValue(start)),
            Self.member("entries", .array(entries)),
        ]
    }

    private func edit(
        _ change: (inout PlayQueue) throws(PlayQueueError) -> Void
    ) throws(RemoteFailure) {
        do throws(PlayQueueError) { try conductor.edit(change) } catch { throw RemoteFailure(error) }
    }

    /// - Returns: how many entries were removed.
    private func remove(_ selection: RemoteRequest.EntrySelection) throws(RemoteFailure) -> Int {
        let order = conductor.queue.playOrder
        let ids: [EntryID]
        switch selection {
        case .ids(let chosen):
            if let missing = chosen.first(where: { conductor.queue.product($0) == nil }) {
                throw RemoteFailure(.noSuchEntry(missing))
            }
            ids = chosen
        case .range(let range):
            if !range.isEmpty, range.lowerBound >= order.count { throw .noSuchIndex(range.lowerBound, of: order.count) }
            ids = Array(order[range.clamped(to: 0..<order.count)])
        }
        try edit { queue throws(PlayQueueError) in queue.remove(ids) }
        return order.count - conductor.queue.count
    }

    /// Brings music into the queue.
    /// - Returns: the id of the first entry, those of the others follow without a gap; how many there are, and how many
    ///   were left out.
    func add(_ music: FoundMusic, _ place: RemoteRequest.MusicPlace) throws(RemoteFailure) -> Members {
        let files = music.files
        let products = files.map { QueuedProduct(.track, $0) }
        var ids: [EntryID] = []
        switch place {
        case .all(let start, let plays):
            if let start, start >= files.count { throw .noSuchIndex(start, of: files.count) }
            do throws(PlayQueueError) {
                try conductor.set(products, startingAt: start, playing: plays ?? conductor.wantsToPlay)
            } catch {
                throw RemoteFailure(error)
            }
            ids = Array(conductor.queue.playOrder.min().map { [$0] } ?? [])
        case .end: try edit { queue throws(PlayQueueError) in ids = try queue.add(products) }
        case .next: try edit { queue throws(PlayQueueError) in ids = try queue.insertNext(products) }
        case .index(let index): try edit { queue throws(PlayQueueError) in ids = try queue.insert(products, at: index) }
        }
        return [
            Self.member("entry", JSONValue(ids.first.map { Int(clamping: $0.number) })),
            Self.member("added", JSONValue(files.count)), Self.member("skipped", JSONValue(music.skipped)),
        ]
    }

    // MARK: Configuration

    private func set(_ name: SettingName, _ text: String) throws(RemoteFailure) -> JSONValue.Member {
        do throws(SettingError) {
            return Self.member("inForce", .boolean(try daemon.set(name, to: text)))
        } catch {
            throw RemoteFailure("bad-setting", error.description)
        }
    }

    private func unset(_ name: SettingName) throws(RemoteFailure) -> JSONValue.Member {
        // Where not even the default may be set, no client has set anything.
        if let refusal = name.setting.refusalForClients(of: name.setting.standard) {
            throw RemoteFailure("bad-setting", refusal)
        }
        return Self.member("inForce", .boolean(daemon.unset(name)))
    }
}
