import PCM
import Platform
import Player
import Queue

/// Carries out requests and makes their replies, independent of the protocol.
///
/// Thread: the daemon's.
package struct RequestExecution {
    private let queue: QueueConductor
    private let volume: VolumeControl
    private let settings: DaemonSettings
    private let focus: DeviceFocus
    private let commands: CommandDispatcher
    /// Carries out requests whose answers follow later.
    package var later: LaterAnswers
    private let status: StatusAnswers
    private let afterWriting: (@escaping () -> Void) -> Void
    private let spareMemory: SpareMemory

    package init(_ daemon: Daemon, version: String) {
        queue = daemon.queue
        volume = daemon.volume
        settings = daemon.settings
        focus = daemon.focus
        commands = daemon.commands
        later = LaterAnswers(daemon)
        status = StatusAnswers(
            version: version, status: { daemon.status }, events: { daemon.player.eventStatus })
        spareMemory = daemon.environment.spareMemory
        afterWriting = { daemon.afterWriting($0) }
    }

    /// - Parameter client: the client of the request, for the focus that it holds.
    package func perform(
        _ request: ImmediateRequest, for client: UInt64, _ rights: ClientRights = .all
    ) throws(RemoteFailure) -> RequestOutcome {
        switch request {
        case .status: return RequestOutcome(reply: statusReply)
        case .version: return RequestOutcome(reply: .version(status.version))
        case .command(let command): return RequestOutcome(reply: try perform(command))
        case .play(let place): try play(place)
        case .seek(let change): try seek(change)
        case .volume(let change): return RequestOutcome(reply: changeVolume(change))
        case .mute(let on): return RequestOutcome(reply: mute(on))
        case .shuffle(let on): return RequestOutcome(reply: shuffle(on), completion: .written)
        case .repeatMode(let mode):
            queue.setRepeatMode(mode)
            return RequestOutcome(reply: .done, completion: .written)
        case .queue(let from, let count): return RequestOutcome(reply: page(from, count))
        case .events: return RequestOutcome(reply: .events(status.events()))
        case .queueMove(let id, let index):
            try edit { queue throws(PlayQueueError) in try queue.move(id, to: index) }
            return RequestOutcome(reply: .done, completion: .written)
        case .queueRemove(let selection):
            return RequestOutcome(reply: .removed(try remove(selection)), completion: .written)
        case .queueClear:
            try edit { queue throws(PlayQueueError) in queue.clear() }
            return RequestOutcome(reply: .done, completion: .written)
        case .focus(let level, let isHeld):
            if isHeld { focus.hold(level, by: client) } else { focus.set(level) }
            return RequestOutcome(reply: .done, completion: .focusCarriedOut)
        case .power(let state):
            focus.setPower(state)
            return RequestOutcome(reply: .done, completion: .focusCarriedOut)
        case .configurationGet(let name):
            return RequestOutcome(reply: .settings(reports(name.map { [$0] } ?? SettingName.allCases)))
        case .configurationSet(let name, let text):
            return RequestOutcome(reply: .settingChanged(inForce: try set(name, text, rights)), completion: .written)
        case .configurationUnset(let name):
            return RequestOutcome(reply: .settingChanged(inForce: try unset(name, rights)), completion: .written)
        }
        return RequestOutcome(reply: .done)
    }

    package var statusReply: RemoteReply { .status(status.status()) }

    /// Calls `action` when the effect of a request is complete: added music is on the medium, and a released device is
    /// free for other programs.
    package func when(_ completion: RequestOutcome.Completion, _ action: @escaping () -> Void) {
        switch completion {
        case .atOnce: action()
        case .written: afterWriting(action)
        case .musicWritten:
            afterWriting { [spareMemory] in
                action()
                spareMemory.giveBackSoon()
            }
        case .focusCarriedOut:
            // Safe: the engine's thread passes it back to the loop and does not call it.
            nonisolated(unsafe) let action = action
            focus.whenCarriedOut { action() }
        }
    }

    package func holdsSomething(for client: UInt64) -> Bool { focus.isHeld(by: client) }

    /// Removes the focus that a client holds.
    package func forget(_ client: UInt64) { focus.release(by: client) }

    /// The event for clients about a change.
    package func event(_ change: DaemonEvent) -> RemoteEvent {
        switch change {
        case .configuration: .configuration(reports(SettingName.allCases))
        case .failed(let entry, let error): .failed(entry, error)
        case .offline(let message): .offline(message)
        case .library(let status): .library(status)
        case .playlists(let name): .playlists(name: name)
        default: .status(RemoteEventSet(change), status.status())
        }
    }

    // MARK: Playback

    private func perform(_ command: ApplianceCommand) throws(RemoteFailure) -> RemoteReply {
        switch command {
        case .play, .toggle, .next, .previous: try checkIsNotEmpty()
        default: break
        }
        commands.perform(command)
        switch command {
        case .volumeUp, .volumeDown, .mute: return volumeReply
        case .shuffle: return .shuffle(isOn: queue.contents.isShuffled)
        default: return .done
        }
    }

    private func checkIsNotEmpty() throws(RemoteFailure) {
        if queue.contents.isEmpty { throw RemoteFailure(.emptyQueue, "nothing to play: the queue is empty") }
    }

    private func play(_ place: ImmediateRequest.EntryPlace?) throws(RemoteFailure) {
        try checkIsNotEmpty()
        if let place {
            let id =
                switch place {
                case .id(let id): id
                case .index(let index): try entry(at: index)
                }
            do throws(PlayQueueError) { try queue.select(id) } catch { throw RemoteFailure(error) }
        }
        commands.perform(.play)
    }

    private func entry(at index: Int) throws(RemoteFailure) -> EntryID {
        let order = queue.contents.playOrder
        guard order.indices.contains(index) else { throw .noSuchIndex(index, of: order.count) }
        return order[index]
    }

    private func seek(_ change: ImmediateRequest.Change) throws(RemoteFailure) {
        guard queue.contents.current != nil else { throw RemoteFailure(.nothingCurrent, "nothing to seek in") }
        switch change {
        case .to(let position): queue.seek(to: position)
        case .by(let offset): queue.seek(to: queue.position + offset)
        }
    }

    private func changeVolume(_ change: ImmediateRequest.Change) -> RemoteReply {
        switch change {
        case .to(let percent): volume.set(percent: Int(percent))
        case .by(let percent): volume.change(by: Int(percent))
        }
        return volumeReply
    }

    private func mute(_ on: Bool?) -> RemoteReply {
        volume.setMuted(on ?? !volume.isMuted)
        return volumeReply
    }

    private var volumeReply: RemoteReply {
        .volume(percent: volume.percent, isMuted: volume.isMuted)
    }

    private func shuffle(_ on: Bool?) -> RemoteReply {
        queue.setShuffled(on ?? !queue.contents.isShuffled)
        return .shuffle(isOn: queue.contents.isShuffled)
    }

    // MARK: The queue

    /// - Parameter count: the maximum number of entries.
    private func page(_ from: Int, _ count: Int) -> RemoteReply {
        let contents = queue.contents
        let start = min(from, contents.count)
        let entries = contents.entries(start..<(start + min(count, contents.count - start)))
        return .page(
            RemoteReply.QueuePage(count: contents.count, start: start, entries: entries, current: contents.current))
    }

    private func edit(
        _ change: (inout PlayQueue) throws(PlayQueueError) -> Void
    ) throws(RemoteFailure) {
        do throws(PlayQueueError) { try queue.edit(change) } catch { throw RemoteFailure(error) }
    }

    /// - Returns: how many entries were removed.
    private func remove(_ selection: ImmediateRequest.EntrySelection) throws(RemoteFailure) -> Int {
        let order = queue.contents.playOrder
        let ids: [EntryID]
        switch selection {
        case .ids(let chosen):
            if let missing = chosen.first(where: { !queue.contents.contains($0) }) {
                throw RemoteFailure(.noSuchEntry(missing))
            }
            ids = chosen
        case .range(let from, let count):
            if count == 0 { return 0 }
            guard from < order.count else { throw .noSuchIndex(from, of: order.count) }
            ids = Array(order[from...].prefix(count))
        }
        try edit { queue throws(PlayQueueError) in queue.remove(ids) }
        return order.count - queue.contents.count
    }

    /// Adds music to the queue.
    package func add(_ music: FoundMusic, _ place: RemoteRequest.MusicPlace) throws(RemoteFailure) -> RequestOutcome {
        if case .all(let start?, _) = place, start >= music.count { throw .noSuchIndex(start, of: music.count) }
        let first: EntryID?
        do throws(PlayQueueError) { first = try queue.add(music, place) } catch { throw RemoteFailure(error) }
        let addition = RemoteReply.Addition(first: first, count: music.count, skipped: music.skipped)
        return RequestOutcome(reply: .added(addition), completion: .musicWritten)
    }

    /// The base of lines in playlists that are relative to the root of the music.
    package var musicPaths: MusicURIs { MusicURIs(folders: settings.configuration.libraryFolders) }

    /// Returns how many entries a request that adds music at `place` may add.
    package func room(for place: RemoteRequest.MusicPlace) -> Int {
        if case .all = place { PlayQueue.capacity } else { PlayQueue.capacity - queue.contents.count }
    }

    // MARK: Configuration

    private func reports(_ names: [SettingName]) -> [RemoteReply.SettingReport] {
        names.map { RemoteReply.SettingReport($0, of: settings.configuration) }
    }

    /// - Returns: whether it is in force.
    private func set(
        _ name: SettingName, _ text: String, _ rights: ClientRights
    ) throws(RemoteFailure) -> Bool {
        if rights.isOfGuest, let refusal = settings.refusalForGuests(of: text, for: name) {
            throw RemoteFailure(.guest, refusal)
        }
        do throws(SettingError) {
            return try settings.set(name, to: text)
        } catch {
            throw RemoteFailure(.badSetting, error.description)
        }
    }

    /// - Returns: whether the file's value is in force.
    private func unset(_ name: SettingName, _ rights: ClientRights) throws(RemoteFailure) -> Bool {
        if rights.isOfGuest, let refusal = settings.refusalForGuests(of: nil, for: name) {
            throw RemoteFailure(.guest, refusal)
        }
        // A setting whose default clients cannot set has no value of a client.
        if let refusal = name.setting.refusalForClients(of: name.setting.standard) {
            throw RemoteFailure(.badSetting, refusal)
        }
        return settings.unset(name)
    }
}

/// The status of the daemon and the version of the program, for replies.
private struct StatusAnswers {
    let version: String
    let status: () -> DaemonStatus
    let events: () -> EventStatus?
}
