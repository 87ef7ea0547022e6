import Platform

/// The commands that are one request each: `tonearm pause`, `tonearm seek +10`, `tonearm volume 40`.
struct TransportCommand {
    /// The names of the commands, except `play` without files.
    static let names = [
        "pause", "toggle", "stop", "next", "previous", "seek", "volume", "volume-up", "volume-down", "mute", "shuffle",
        "repeat", "network-restart", "restart", "power-off",
    ]
    /// Old names with the new ones.
    static let oldNames = ["resume": "play"]

    /// Whether the words after `play` name no files: then the daemon plays.
    static func isPlay(_ words: [String]) -> Bool {
        guard let arguments = try? Arguments(parsing: words, knowing: DaemonCommand.options) else { return false }
        return arguments.operands.isEmpty
    }

    private let common: DaemonCommand
    private let request: String
    private let fields: [DaemonCommand.Member]
    /// Returns the text of the reply for the user.
    private let text: (JSONValue) -> String?

    /// - Parameter name: the name of the command.
    init(_ name: String, _ words: [String]) throws(UsageError) {
        let arguments = try Arguments(parsing: words, knowing: DaemonCommand.options)
        common = DaemonCommand(arguments)
        let operands = arguments.operands
        let first = operands.first
        if operands.count > (Self.hasOperand(name) ? 1 : 0) {
            throw UsageError("\(name) takes no \(operands[operands.count - 1]).")
        }
        if let new = Self.oldNames[name] {
            common.console.complain("note: `tonearm \(name)` is deprecated. Use `tonearm \(new)`.")
        }
        var request = Self.oldNames[name] ?? name
        var fields: [DaemonCommand.Member] = []
        var text: (JSONValue) -> String? = { _ in nil }
        switch name {
        case "seek":
            guard let first else {
                throw UsageError("seek needs a time: SECONDS, M:SS, or +SECONDS and -SECONDS from here.")
            }
            fields = [try Self.seek(first)]
        case "volume":
            if let first { fields = [try Self.volume(first)] } else { request = "status" }
            text = Self.volumeText
        case "volume-up", "volume-down": text = Self.volumeText
        case "mute":
            if let first { fields = [try Self.onOrOff(name, first)] }
            text = Self.volumeText
        case "shuffle":
            if let first { fields = [try Self.onOrOff(name, first)] } else { text = Self.shuffleText }
        case "repeat":
            if let first {
                guard ["off", "all", "one"].contains(first) else {
                    throw UsageError("repeat \(first): must be off, all or one.")
                }
                fields = [.init("mode", .string(first))]
            } else {
                request = "status"
                text = { $0["repeat"]?.string }
            }
        default: break
        }
        self.request = request
        self.fields = fields
        self.text = text
    }

    func run() -> Int32 {
        common.run { connection throws(DaemonFailure) in
            common.show(try connection.ask(request, fields), text)
        }
    }

    private static func hasOperand(_ name: String) -> Bool {
        ["seek", "volume", "mute", "shuffle", "repeat"].contains(name)
    }

    private static func volumeText(_ reply: JSONValue) -> String? {
        reply["volume"]?.integer.map { "\($0) %" + (reply["muted"]?.boolean == true ? ", muted" : "") }
    }

    private static func shuffleText(_ reply: JSONValue) -> String? {
        reply["shuffle"]?.boolean.map { $0 ? "on" : "off" }
    }

    private static func onOrOff(_ name: String, _ word: String) throws(UsageError) -> DaemonCommand.Member {
        switch word {
        case "on": return .init("on", true)
        case "off": return .init("on", false)
        default: throw UsageError("\(name) \(word): must be on or off.")
        }
    }

    /// Whether a word is a difference: `+5`, `-5`.
    private static func isDifference(_ word: String) -> Bool {
        word.utf8.first == UInt8(ascii: "+") || word.utf8.first == UInt8(ascii: "-")
    }

    private static func volume(_ word: String) throws(UsageError) -> DaemonCommand.Member {
        let digits = word.utf8.last == UInt8(ascii: "%") ? String(Substring(word.utf8.dropLast())) : word
        guard let percent = Int(digits), (-100...100).contains(percent) else {
            throw UsageError("volume \(word): must be percent from 0 to 100, or +PERCENT and -PERCENT from what it is.")
        }
        return .init(isDifference(word) ? "change" : "percent", JSONValue(percent))
    }

    private static func seek(_ word: String) throws(UsageError) -> DaemonCommand.Member {
        let isDifference = isDifference(word)
        guard let seconds = Duration.seconds(isDifference ? String(Substring(word.utf8.dropFirst())) : word) else {
            throw UsageError("seek \(word): must be SECONDS, M:SS or H:MM:SS, with + or - from here.")
        }
        let isBack = word.utf8.first == UInt8(ascii: "-")
        return .init(isDifference ? "offset" : "position", .real(isBack ? -seconds : seconds))
    }

    /// A duration in the form for users.
    private enum Duration {
        /// Reads `90`, `12.5`, `1:30`, `1:02:03`; nil for other texts.
        static func seconds(_ text: String) -> Double? {
            let parts = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            guard (1...3).contains(parts.count) else { return nil }
            var seconds = 0.0
            for (index, part) in parts.enumerated() {
                guard part.first.map({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) == true,
                    let value = Double(decimal: String(Substring(part))), index == 0 || value < 60,
                    index == parts.count - 1 || value.rounded() == value
                else { return nil }
                seconds = seconds * 60 + value
            }
            return seconds
        }
    }
}
