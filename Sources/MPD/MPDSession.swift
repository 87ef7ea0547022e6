import Appliance
import Platform
import Queue

/// One connection: carries out its commands in order, and reports changes to it when it waits for them.
///
/// Thread: the daemon's; `@unchecked Sendable` is safe for that reason.
final class MPDSession: @unchecked Sendable {
    /// The longest line (MPD's buffer), in bytes.
    static let lineLimit = 8192
    /// The time limit of a client that is silent without waiting for changes, or that does not read an answer, in
    /// nanoseconds.
    static let patience: Int64 = 60_000_000_000
    /// The cost limit of a turn, after which other clients have theirs. A gathered edit costs less than other commands.
    private static let turnLimit = 128
    private static let editCost = 1
    private static let otherCost = 8

    let number: UInt64
    private let player: MPDPlayer
    private let loop: EventLoop
    private let connection: LineConnection
    private var client: MPDClient
    private var conversation = MPDConversation()
    private var running: Running?
    private var timer: TimerToken?
    private var lastRequest: Int64

    /// The list that is being carried out.
    private struct Running {
        var commands: MPDCommandList
        /// The number of the next command.
        var next = 0
        /// The name of the command that was begun.
        var name = ""
        /// Whether the list's changes are reported to other clients only at its end.
        var holdsChanges = false
    }

    /// - Parameters:
    ///   - address: the address of the client; empty for a client of the UNIX socket.
    ///   - closed: called once, when the connection has ended.
    init(
        _ socket: StreamSocket, number: UInt64, address: [UInt8], player: MPDPlayer, closed: @escaping (UInt64) -> Void
    ) {
        self.number = number
        self.player = player
        loop = player.daemon.loop
        client = MPDClient(permission: player.standardPermission, address: address, number: number)
        lastRequest = player.daemon.environment.clock.now()
        connection = LineConnection(socket, loop: loop, lineLimit: Self.lineLimit)
        connection.handlers.receive = { [self] in receive($0) }
        connection.handlers.hungUp = { [self] in connection.close() }
        connection.handlers.closed = { [self] in
            stopTimer()
            player.queue.settle()
            releaseChanges()
            running = nil
            player.channels.forget(number)
            closed(number)
        }
    }

    func start() {
        connection.send(Array("OK MPD 0.23.5\n".utf8))
        startTimer()
        connection.start()
    }

    func close() { connection.close() }

    /// The values by which `ClientPlaces` decides whether this client makes room for another.
    var place: ClientPlaces.Client {
        let network = ClientPlaces.network(of: client.address)
        return ClientPlaces.Client(number: number, network: network, lastRequest: lastRequest)
    }

    /// Reports that parts of the player have changed.
    func changed(_ parts: MPDSubsystems) { act(conversation.changed(parts)) }

    // MARK: Lines

    private func receive(_ line: LineSplitter.Line) {
        startTimer()
        lastRequest = player.daemon.environment.clock.now()
        guard case .whole(let bytes) = line else { return connection.close() }
        act(conversation.receive(bytes, mayIdle: client.permission >= .read))
        // A waiting client has no time limit.
        if conversation.isIdle { stopTimer() }
    }

    private func act(_ action: MPDConversation.Action) {
        switch action {
        case .nothing: break
        case .reply(let bytes):
            send(bytes)
            startTimer()
        case .close: connection.close()
        case .run(let commands):
            // The time that commands take does not count against the client.
            stopTimer()
            connection.wait()
            running = Running(commands: commands)
            holdChanges()
            proceed()
        }
    }

    private func send(_ bytes: [UInt8]) { if !connection.send(bytes) { connection.close() } }

    // MARK: Commands

    /// Carries out commands until one has to wait.
    private func proceed() {
        var cost = 0
        while cost < Self.turnLimit {
            guard let running, connection.isOpen else { return }
            guard running.next < running.commands.lines.count else { return finish(MPDConversation.ok) }
            do throws(MPDFailure) {
                let (step, kind) = try begin(running.commands.lines[running.next])
                switch step {
                case .output(let output):
                    succeed(output.bytes)
                    if !connection.hasRoom { return proceedWhenRead() }
                case .later(let work):
                    return work { [self] result in answer(result) }
                case .work(let work):
                    player.queue.settleCurrent()
                    return player.carryOut(group(from: work)) { [self] results in answer(results) }
                }
                cost += kind == .edit ? Self.editCost : Self.otherCost
            } catch {
                return fail(error)
            }
        }
        player.queue.settleCurrent()
        // Safe: the loop's thread posts it to itself.
        loop.post { [self] in proceed() }
    }

    private func begin(_ line: [UInt8]) throws(MPDFailure) -> (MPDStep, MPDCommand.Kind) {
        running?.name = ""
        let arguments = try MPDArguments(line: line)
        let command = try MPDCommand.named(arguments.name)
        running?.name = arguments.name
        try command.check(client.permission, argumentCount: arguments.values.count)
        switch command.kind {
        case .edit:
            let step = try player.queue.gather { () throws(MPDFailure) in
                try command.perform(player, &client, arguments.values)
            }
            return (step, command.kind)
        case .work: break
        // The command must see the edits before it.
        case .other: player.queue.settle()
        }
        let step = try command.perform(player, &client, arguments.values)
        if client.hasClosed { connection.close() }
        return (step, command.kind)
    }

    /// Returns the work of a command, and the work of the commands after it that can join it.
    private func group(from first: MPDWork) -> [MPDWork] {
        guard let commands = running?.commands, let start = running?.next else { return [first] }
        var works = [first]
        for line in commands.lines[(start + 1)...] where works.count < MPDWork.mostWithAnswers {
            guard let next = try? work(of: line), first.joins(next) else { break }
            works.append(next)
        }
        return works
    }

    /// Returns the work of a line; nil for another command. A mistake in the line is reported when its turn comes.
    private func work(of line: [UInt8]) throws(MPDFailure) -> MPDWork? {
        let arguments = try MPDArguments(line: line)
        let command = try MPDCommand.named(arguments.name)
        try command.check(client.permission, argumentCount: arguments.values.count)
        guard command.kind == .work else { return nil }
        guard case .work(let work) = try command.perform(player, &client, arguments.values) else { return nil }
        return work
    }

    private func answer(_ results: [Result<MPDOutput, MPDFailure>]) {
        guard running != nil, connection.isOpen else { return player.queue.settle() }
        var output: [UInt8] = []
        for result in results {
            switch result {
            case .success(let answer):
                output += listed(answer.bytes)
                running?.next += 1
            case .failure(let error):
                send(output)
                if let running, let arguments = try? MPDArguments(line: running.commands.lines[running.next]) {
                    self.running?.name = arguments.name
                }
                return fail(error)
            }
        }
        send(output)
        proceedWhenRead()
    }

    private func answer(_ result: Result<MPDAnswer, MPDFailure>) {
        guard running != nil, connection.isOpen else { return }
        switch result {
        case .success(.output(let output)):
            succeed(output.bytes)
            proceedWhenRead()
        case .success(.pieces(let pieces)): send(pieces)
        case .failure(let error): fail(error)
        }
    }

    /// Sends the pieces of a long answer, each after the client has read enough of the earlier ones.
    private func send(_ pieces: any MPDPieces) {
        // Reports changes now, because the client may read slowly.
        releaseChanges()
        let take: (Result<[UInt8]?, MPDFailure>) -> Void = { [self] result in
            guard running != nil, connection.isOpen else { return }
            switch result {
            case .success(let piece?):
                whenRead { [self] in
                    // The next piece is made while this one is sent.
                    send(pieces)
                    send(piece)
                }
            case .success(nil):
                succeed([])
                holdChanges()
                proceedWhenRead()
            case .failure(let error): fail(error)
            }
        }
        guard pieces.needIndex else { return player.readPlaylist(pieces, take) }
        player.query(take) { database in
            do throws(MPDFailure) { return .success(try pieces.next(database)) } catch { return .failure(error) }
        }
    }

    /// Ends a command of the list.
    private func succeed(_ bytes: [UInt8]) {
        guard connection.isOpen else { return }
        running?.next += 1
        send(listed(bytes))
    }

    private func listed(_ bytes: [UInt8]) -> [UInt8] {
        running?.commands.kind == .listOK ? bytes + MPDConversation.listOK : bytes
    }

    private func fail(_ error: MPDFailure) {
        finish(error.line(at: running?.next ?? 0, command: running?.name ?? ""))
    }

    private func finish(_ bytes: [UInt8]) {
        player.queue.settle()
        releaseChanges()
        running = nil
        guard connection.isOpen else { return }
        send(bytes)
        startTimer()
        if connection.isOpen { connection.whenRoom { [self] in connection.resume() } }
    }

    private func proceedWhenRead() { whenRead { [self] in proceed() } }

    /// Calls `action` when the client has read enough. A client that takes too long is disconnected.
    private func whenRead(_ action: @escaping () -> Void) {
        if connection.hasRoom { return action() }
        // Reports changes to the other clients now, because this client may read slowly or be gone.
        player.queue.settle()
        let holds = running?.holdsChanges == true
        releaseChanges()
        startTimer()
        connection.whenRoom { [self] in
            stopTimer()
            if holds { holdChanges() }
            action()
        }
    }

    private func holdChanges() {
        guard let kind = running?.commands.kind, kind != .single, running?.holdsChanges == false else { return }
        running?.holdsChanges = true
        player.holdChanges()
    }

    private func releaseChanges() {
        guard running?.holdsChanges == true else { return }
        running?.holdsChanges = false
        player.releaseChanges()
    }

    // MARK: Patience

    private func startTimer() {
        stopTimer()
        guard connection.isOpen else { return }
        timer = loop.schedule(after: Self.patience) { [self] in
            timer = nil
            connection.close()
        }
    }

    private func stopTimer() {
        if let timer { loop.cancel(timer) }
        timer = nil
    }
}
