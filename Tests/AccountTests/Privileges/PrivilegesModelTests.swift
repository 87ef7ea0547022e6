import PlayerTestSupport
import TestSupport
import Testing

@testable import Account
@testable import Offline
@testable import Player

/// Random runs of several players and one service, with delays, partitions and a service that goes away. The state
/// machines are the real ones; the network, the service and the time are simulated.
@Suite("Several players and one service")
struct PrivilegesModelTests {
    @Test("After all presses and partitions, only the player plays that was pressed last", arguments: 0..<120)
    func lastPressWins(seed: Int) {
        var model = PrivilegesModel(players: 2 + seed % 2, seed: UInt64(seed))
        model.run(steps: 40)
        model.heal()
        let last = model.press(Int(model.random.next() % UInt64(model.players.count)))
        model.settle()
        #expect(model.playing == [last])
    }

    @Test("Two presses whose messages cross leave exactly one player", arguments: 0..<60)
    func crossing(seed: Int) {
        var model = PrivilegesModel(players: 2, seed: UInt64(5000 + seed))
        model.run(steps: 20)
        model.heal()
        for player in 0...1 { _ = model.press(player) }
        model.settle()
        for player in 0...1 { model.pressNow((player + seed) % 2) }
        model.settle()
        #expect(model.playing.count == 1)
    }

    @Test("After a partition in which all were pressed, only the last one plays on, without a loop", arguments: 0..<80)
    func partitionHeals(seed: Int) {
        let count = 2 + seed % 2
        var model = PrivilegesModel(players: count, seed: UInt64(1000 + seed))
        model.run(steps: 10)
        for player in 0..<count { model.setWay(player, isFree: false) }
        model.settle()
        var order = Array(0..<count)
        order.shuffle(using: &model.random)
        for player in order {
            model.pass(seconds: 3)
            _ = model.press(player)
        }
        #expect(model.playing == Set(0..<count))
        model.heal()
        let before = model.messages
        model.settle()
        #expect(model.playing == [order.last!])
        #expect(model.messages - before < 60)
    }
}

/// The simulation.
private struct PrivilegesModel {
    struct Player {
        var machine = PrivilegesMachine()
        var wantsToPlay = false
        var isFree = true
        var timer: Int64?
        /// The attempt whose connection is open or being opened.
        var attempt: Int?
    }

    private enum Delivery {
        case toPlayer(Int, PrivilegesMachine.Event)
        case discovery(Int, attempt: Int)
        case connection(Int, attempt: Int)
        case action(Int, attempt: Int, pressedAt: Int64, number: Int64)
        /// The service notices that a connection has ended.
        case end(Connection)
    }

    /// A connection as the service sees it; the player may have left it.
    private struct Connection: Equatable {
        let player: Int
        let attempt: Int
    }

    var random: SeededRandom
    private(set) var players: [Player]
    private(set) var messages = 0
    private var now: Int64 = 0
    private var deliveries: [(due: Int64, number: Int, Delivery)] = []
    private var number = 0
    /// The connections, with the number of the last press that the service knows of each.
    private var connections: [(connection: Connection, known: Int64)] = []
    private var privileged: (connection: Connection, pressedAt: Int64)?
    /// When the last message for, and of, a player arrives: messages keep their order.
    private var lastArrivals: [Int: Int64] = [:]

    init(players count: Int, seed: UInt64) {
        random = SeededRandom(seed)
        players = Array(repeating: Player(), count: count)
        for player in players.indices { feed(player, .way(isFree: true)) }
    }

    var playing: Set<Int> { Set(players.indices.filter { players[$0].wantsToPlay }) }

    // MARK: What happens to the players

    mutating func run(steps: Int) {
        for _ in 0..<steps {
            let player = Int(random.next() % UInt64(players.count))
            switch random.next() % 8 {
            case 0, 1, 2: _ = press(player)
            case 3: pause(player)
            case 4: setWay(player, isFree: !players[player].isFree)
            case 5: drop(player)
            default: break
            }
            pass(milliseconds: Int64(random.next() % 3000))
        }
    }

    mutating func press(_ player: Int) -> Int {
        // Two people do not press within the time of a message: the service cannot know then who was later.
        pass(milliseconds: 500)
        pressNow(player)
        return player
    }

    mutating func pressNow(_ player: Int) {
        players[player].wantsToPlay = true
        feed(player, .pressed)
        feed(player, .needed(true))
    }

    mutating func pause(_ player: Int) {
        players[player].wantsToPlay = false
        feed(player, .needed(false))
    }

    mutating func setWay(_ player: Int, isFree: Bool) {
        players[player].isFree = isFree
        if !isFree { leave(player) }
        feed(player, .way(isFree: isFree))
    }

    mutating func heal() {
        for player in players.indices where !players[player].isFree { setWay(player, isFree: true) }
    }

    /// Something on the way ends the connection. The service may notice it much later.
    mutating func drop(_ player: Int) {
        guard let attempt = players[player].attempt else { return }
        leave(player)
        feed(player, .closed(retryAfter: nil, attempt: attempt))
    }

    private mutating func leave(_ player: Int) {
        for (connection, _) in connections where connection.player == player {
            number += 1
            deliveries.append((now + Int64(random.next() % 50) * 1_000_000_000, number, .end(connection)))
        }
        players[player].attempt = nil
    }

    // MARK: Time

    /// Long enough for ten attempts after the longest delay.
    mutating func settle() { pass(seconds: 600) }
    mutating func pass(seconds: Int64) { pass(milliseconds: seconds * 1000) }

    mutating func pass(milliseconds: Int64) {
        let end = now + milliseconds * 1_000_000
        while true {
            let timer = players.indices.compactMap { player in players[player].timer.map { ($0, player) } }
                .min { $0.0 < $1.0 }
            let delivery = deliveries.indices.min {
                (deliveries[$0].due, deliveries[$0].number) < (deliveries[$1].due, deliveries[$1].number)
            }
            let due = delivery.map { deliveries[$0].due } ?? .max
            if let timer, timer.0 <= min(due, end) {
                now = max(now, timer.0)
                players[timer.1].timer = nil
                feed(timer.1, .timer)
            } else if let delivery, due <= end {
                now = max(now, due)
                arrive(deliveries.remove(at: delivery).2)
            } else {
                now = end
                return
            }
        }
    }

    // MARK: The players

    private mutating func feed(_ player: Int, _ event: PrivilegesMachine.Event) {
        for effect in players[player].machine.handle(event, at: now, jitter: 0.5) { carryOut(effect, player) }
    }

    private mutating func carryOut(_ effect: PrivilegesMachine.Effect, _ player: Int) {
        switch effect {
        case .discover(let attempt): send(.discovery(player, attempt: attempt), of: player)
        case .connect(_, let attempt):
            players[player].attempt = attempt
            send(.connection(player, attempt: attempt), of: player)
        case .acquire(let pressedAt, let number):
            guard let attempt = players[player].attempt else { return }
            send(.action(player, attempt: attempt, pressedAt: pressedAt, number: number), of: player)
        case .disconnect: leave(player)
        case .revoke: pause(player)
        case .setTimer(let time): players[player].timer = time
        }
    }

    // MARK: The network and the service

    /// A message takes up to 200 ms, and does not overtake the one before it.
    private mutating func send(_ delivery: Delivery, of player: Int? = nil, to receiver: Int? = nil) {
        messages += 1
        number += 1
        let line = player.map { 2 * $0 } ?? 2 * receiver! + 1
        let arrival = max(lastArrivals[line] ?? 0, now + Int64(1 + random.next() % 200) * 1_000_000)
        lastArrivals[line] = arrival
        deliveries.append((arrival, number, delivery))
    }

    private mutating func arrive(_ delivery: Delivery) {
        switch delivery {
        case .toPlayer(let player, let event):
            // Nothing arrives over a connection that is gone.
            if case .received(_, let attempt) = event, players[player].attempt != attempt { return }
            feed(player, event)
        case .discovery(let player, let attempt):
            let answer: PrivilegesService.Answer =
                players[player].isFree && random.next() % 5 > 0 ? .address("wss://a") : .failed(retryAfter: nil)
            send(.toPlayer(player, .discovered(answer, attempt: attempt)), to: player)
        case .connection(let player, let attempt):
            guard players[player].isFree, players[player].attempt == attempt, random.next() % 5 > 0 else {
                return send(.toPlayer(player, .closed(retryAfter: nil, attempt: attempt)), to: player)
            }
            connections.append((Connection(player: player, attempt: attempt), 0))
            send(.toPlayer(player, .opened(attempt: attempt)), to: player)
        case .action(let player, let attempt, let pressedAt, let number):
            let sender = Connection(player: player, attempt: attempt)
            guard let index = connections.firstIndex(where: { $0.connection == sender }) else { return }
            connections[index].known = number
            act(sender, pressedAt)
        case .end(let connection):
            connections.removeAll { $0.connection == connection }
            if privileged?.connection == connection { privileged = nil }
        }
    }

    /// The rule of docs/service.md, "Streaming privileges": the latest press wins among the players that are connected,
    /// and a player replaces its own former connection.
    private mutating func act(_ sender: Connection, _ pressedAt: Int64) {
        // The press as the service computes it, from the age in the message.
        let arrival = pressedAt + Int64(random.next() % 200) * 1_000_000
        if let privileged, privileged.connection.player != sender.player, arrival < privileged.pressedAt {
            return notify(sender)
        }
        privileged = (sender, arrival)
        for (connection, _) in connections where connection.player != sender.player { notify(connection) }
    }

    private mutating func notify(_ connection: Connection) {
        let known = connections.first { $0.connection == connection }?.known ?? 0
        let message = PrivilegesMessage.revoked(otherDevice: "other", known: known)
        send(.toPlayer(connection.player, .received(message, attempt: connection.attempt)), to: connection.player)
    }
}
