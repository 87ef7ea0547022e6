import PCM
import Platform
import Player

/// Why a request that was understood could not be carried out. Nothing has changed.
struct ControlFailure: Error, Equatable {
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

    fileprivate static func noSuchIndex(_ index: Int, of count: Int) -> ControlFailure {
        ControlFailure("no-such-entry", "no entry at index \(index): there are \(count)")
    }
}

/// Carries requests out: what each means to the daemon, and what is told in reply.
///
/// Thread: the daemon's.
struct ControlRequests {
    typealias Members = [JSONValue.Member]

    /// A page of the queue takes about this many bytes at most, so that a reply is no longer than a request may be.
    private static let pageBytes = 60 << 10

    let daemon: Daemon
    /// Of the program.
    let version: String

    private var queue: QueueConductor { daemon.queue }

    var status: Members { ControlMessages.members(daemon.status) }

    /// - Parameter client: who asks, for what is held for it.
    /// - Returns: what the reply tells.
    func perform(_ request: ControlRequest, for client: UInt64) throws(ControlFailure) -> Members {
        switch request {
        case .status, .subscribe, .unsubscribe: return status
        case .version: return [Self.member("version", .string(version)), Self.member("protocol", 1)]
        case .command(let command): try perform(command)
        case .play(let place): try play(place)
        case .seek(let change): try seek(change)
        case .volume(let change): return changeVolume(change)
        case .mute(let on): return mute(on)
        case .shuffle(let on): queue.setShuffled(on)
        case .repeatMode(let mode): queue.setRepeatMode(mode)
        case .queue(let from, let count): return page(from, count)
        case .collect, .music: preconditionFailure("music has to be found first")
        case .queueMove(let id, let index):
            try edit { queue throws(PlayQueueError) in try queue.move(id, to: index) }
        case .queueRemove(let selection): return [Self.member("removed", JSONValue(try remove(selection)))]
        case .queueClear: try edit { queue throws(PlayQueueError) in queue.clear() }
        case .focus(let level, let isHeld):
            if isHeld { daemon.focus.hold(level, by: client) } else { daemon.focus.set(level) }
        case .power(let state): daemon.focus.setPower(state)
        case .configurationGet(let name):
            return [
                ControlMessages.settings(name.map { [$0] } ?? SettingName.allCases, of: daemon.settings.configuration)
            ]
        case .configurationSet(let name, let text): return [try set(name, text)]
        case .configurationUnset(let name): return [try unset(name)]
        }
        return []
    }

    /// Calls `action` when what was asked for has happened: what came into the queue is on the medium, and others can
    /// open the device that they were given.
    func whenDone(_ request: ControlRequest, _ action: @escaping () -> Void) {
        switch request {
        case .music:
            daemon.afterWriting { [daemon] in
                action()
                daemon.spareMemory.giveBackSoon()
            }
        case .queueMove, .queueRemove, .queueClear, .shuffle, .repeatMode, .configurationSet,
            .configurationUnset:
            daemon.afterWriting(action)
        case .focus, .power:
            nonisolated(unsafe) let action = action
            daemon.focus.whenCarriedOut { action() }
        default: action()
        }
    }

    func holdsSomething(for client: UInt64) -> Bool { daemon.focus.isHeld(by: client) }

    /// Gives back what a client holds.
    func forget(_ client: UInt64) { daemon.focus.release(by: client) }

    private static func member(_ name: String, _ value: JSONValue) -> JSONValue.Member { JSONValue.Member(name, value) }

    // MARK: Playback

    private func perform(_ command: ApplianceCommand) throws(ControlFailure) {
        switch command {
        case .toggle, .next, .previous: try checkIsNotEmpty()
        default: break
        }
        daemon.commands.perform(command)
    }

    private func checkIsNotEmpty() throws(ControlFailure) {
        if queue.contents.isEmpty { throw ControlFailure("empty-queue", "nothing to play: the queue is empty") }
    }

    private func play(_ place: ControlRequest.EntryPlace?) throws(ControlFailure) {
        try checkIsNotEmpty()
        if let place {
            let id =
                switch place {
                case .id(let id): id
                case .index(let index): try entry(at: index)
                }
            do throws(PlayQueueError) { try queue.select(id) } catch { throw ControlFailure(error) }
        }
        daemon.commands.perform(.play)
    }

    private func entry(at index: Int) throws(ControlFailure) -> EntryID {
        let order = queue.contents.playOrder
        guard order.indices.contains(index) else { throw .noSuchIndex(index, of: order.count) }
        return order[index]
    }

    private func seek(_ change: ControlRequest.Change) throws(ControlFailure) {
        guard queue.contents.current != nil else { throw ControlFailure("nothing-current", "nothing to seek in") }
        switch change {
        case .to(let position): queue.seek(to: position)
        case .by(let offset): queue.seek(to: queue.position + offset)
        }
    }

    private func changeVolume(_ change: ControlRequest.Change) -> Members {
        switch change {
        case .to(let percent): daemon.volume.set(percent: Int(percent))
        case .by(let percent): daemon.volume.change(by: Int(percent))
        }
        return volume
    }

    private func mute(_ on: Bool?) -> Members {
        daemon.volume.setMuted(on ?? !daemon.volume.isMuted)
        return volume
    }

    private var volume: Members {
        [
            Self.member("volume", JSONValue(daemon.volume.percent)),
            Self.member("muted", .boolean(daemon.volume.isMuted)),
        ]
    }

    // MARK: The queue

    private func page(_ from: Int, _ count: Int) -> Members {
        let contents = queue.contents
        let start = min(from, contents.count)
        var bytes = 0
        var entries: [JSONValue] = []
        for entry in contents.entries(start..<min(start + count, contents.count)) {
            let value: JSONValue = [
                "entry": .integer(Int64(entry.id.number)), "file": .string(entry.product.productId),
                "current": .boolean(entry.id == contents.current),
            ]
            bytes += value.serialized().utf8.count + 1
            if bytes > Self.pageBytes, !entries.isEmpty { break }
            entries.append(value)
        }
        return [
            Self.member("count", JSONValue(contents.count)), Self.member("from", JSONValue(start)),
            Self.member("entries", .array(entries)),
        ]
    }

    private func edit(
        _ change: (inout PlayQueue) throws(PlayQueueError) -> Void
    ) throws(ControlFailure) {
        do throws(PlayQueueError) { try queue.edit(change) } catch { throw ControlFailure(error) }
    }

    /// - Returns: how many entries were removed.
    private func remove(_ selection: ControlRequest.EntrySelection) throws(ControlFailure) -> Int {
        let order = queue.contents.playOrder
        let ids: [EntryID]
        switch selection {
        case .ids(let chosen):
            if let missing = chosen.first(where: { queue.contents.product($0) == nil }) {
                throw ControlFailure(.noSuchEntry(missing))
            }
            ids = chosen
        case .range(let range):
            if !range.isEmpty, range.lowerBound >= order.count { throw .noSuchIndex(range.lowerBound, of: order.count) }
            ids = Array(order[range.clamped(to: 0..<order.count)])
        }
        try edit { queue throws(PlayQueueError) in queue.remove(ids) }
        return order.count - queue.contents.count
    }

    /// Brings music into the queue.
    /// - Returns: the id of the first entry, those of the others follow without a gap; how many there are, and how many
    ///   were left out.
    func add(_ music: FoundMusic, _ place: ControlRequest.MusicPlace) throws(ControlFailure) -> Members {
        let files = music.files
        let products = files.map { QueuedProduct(.track, $0) }
        var ids: [EntryID] = []
        switch place {
        case .all(let start, let plays):
            if let start, start >= files.count { throw .noSuchIndex(start, of: files.count) }
            do throws(PlayQueueError) {
                try queue.set(products, startingAt: start, playing: plays ?? queue.wantsToPlay)
            } catch {
                throw ControlFailure(error)
            }
            ids = Array(queue.contents.playOrder.min().map { [$0] } ?? [])
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

    private func set(_ name: SettingName, _ text: String) throws(ControlFailure) -> JSONValue.Member {
        do throws(SettingError) {
            return Self.member("inForce", .boolean(try daemon.settings.set(name, to: text)))
        } catch {
            throw ControlFailure("bad-setting", error.description)
        }
    }

    private func unset(_ name: SettingName) throws(ControlFailure) -> JSONValue.Member {
        // Where not even the default may be set, no client has set anything.
        if let refusal = name.setting.refusalForClients(of: name.setting.standard) {
            throw ControlFailure("bad-setting", refusal)
        }
        return Self.member("inForce", .boolean(daemon.settings.unset(name)))
    }
}
