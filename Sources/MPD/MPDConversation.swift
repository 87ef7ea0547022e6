import Appliance

/// Commands that are carried out one after the other. The first failure ends the list.
struct MPDCommandList: Equatable {
    enum Kind: Equatable {
        /// A line alone.
        case single
        /// A list with one answer for all commands.
        case list
        /// `list_OK` after each.
        case listOK
    }

    /// The bytes that a list may have (MPD's `max_command_list_size`).
    static let limit = 2 << 20

    let kind: Kind
    private(set) var lines: [[UInt8]] = []
    private var byteCount = 0

    init(_ kind: Kind, _ lines: [[UInt8]] = []) {
        self.kind = kind
        self.lines = lines
    }

    /// The memory of a line besides its bytes. It counts towards the limit, which therefore also applies to a million
    /// short lines.
    static let lineOverhead = 48

    /// - Returns: false when the list is too long.
    mutating func append(_ line: [UInt8]) -> Bool {
        byteCount += line.count + Self.lineOverhead
        lines.append(line)
        return byteCount <= Self.limit
    }
}

/// The meaning of a client's lines, apart from their execution: single commands, command lists, and waiting for
/// changes.
///
///     var conversation = MPDConversation()
///     conversation.receive(Array("idle player".utf8))    // .nothing
///     conversation.changed(.player)                      // .reply("changed: player\nOK\n")
struct MPDConversation: Equatable {
    private enum Mode: Equatable {
        case commands
        case list(MPDCommandList)
        case idle(MPDSubsystems)
    }

    enum Action: Equatable {
        case nothing
        /// No further line is passed until the commands are carried out.
        case run(MPDCommandList)
        case reply([UInt8])
        case close
    }

    private var mode = Mode.commands
    /// Changes that were not reported to the client.
    private var unheard: MPDSubsystems = []

    /// Whether the client waits for changes. It has no time limit then.
    var isIdle: Bool { if case .idle = mode { true } else { false } }

    /// - Parameter mayIdle: whether the client's level allows it to wait for changes.
    mutating func receive(_ line: [UInt8], mayIdle: Bool = true) -> Action {
        // As MPD does, closes connections of another protocol, for example of a browser that a page made send a
        // request. A zero byte is refused, because it would end a path.
        guard let first = line.first, (0x61...0x7A).contains(first), !line.contains(0) else { return .close }
        let line = Self.withoutBlanks(line)
        switch mode {
        case .idle:
            mode = .commands
            return Self.is("noidle", line) ? .reply(Self.ok) : .close
        case .list(var list):
            if Self.is("command_list_end", line) {
                mode = .commands
                return .run(list)
            }
            if Self.begins("idle", line) || Self.is("noidle", line) { return .close }
            // Leaves the list a single owner; otherwise each line would copy it.
            mode = .commands
            guard list.append(line) else { return .close }
            mode = .list(list)
            return .nothing
        case .commands:
            if Self.is("command_list_begin", line) { return begin(.list) }
            if Self.is("command_list_ok_begin", line) { return begin(.listOK) }
            // A client may send `noidle` at the moment when a change was already reported.
            if Self.is("noidle", line) { return .nothing }
            if Self.begins("idle", line), mayIdle { return idle(line) }
            return .run(MPDCommandList(.single, [line]))
        }
    }

    private mutating func begin(_ kind: MPDCommandList.Kind) -> Action {
        mode = .list(MPDCommandList(kind))
        return .nothing
    }

    private mutating func idle(_ line: [UInt8]) -> Action {
        do throws(MPDFailure) {
            mode = .idle(try MPDSubsystems(parsing: try MPDArguments(line: line).values))
        } catch {
            return .reply(error.line(at: 0, command: "idle"))
        }
        return changed([])
    }

    /// Reports that parts of the player have changed.
    mutating func changed(_ parts: MPDSubsystems) -> Action {
        unheard.formUnion(parts)
        guard case .idle(let awaited) = mode, !unheard.isDisjoint(with: awaited) else { return .nothing }
        var answer = unheard.intersection(awaited).answer
        answer.append(Self.ok)
        unheard.subtract(awaited)
        mode = .commands
        return .reply(answer.bytes)
    }

    static let ok = Array("OK\n".utf8)
    static let listOK = Array("list_OK\n".utf8)

    private static func withoutBlanks(_ line: [UInt8]) -> [UInt8] {
        var line = line
        while let last = line.last, last <= 0x20 { line.removeLast() }
        return line
    }

    private static func `is`(_ word: StaticString, _ line: [UInt8]) -> Bool {
        word.withUTF8Buffer { $0.elementsEqual(line) }
    }

    /// Whether the first word of the line is this one.
    private static func begins(_ word: StaticString, _ line: [UInt8]) -> Bool {
        word.withUTF8Buffer { line.starts(with: $0) && (line.count == $0.count || line[$0.count] <= 0x20) }
    }
}
