import Platform

import CLinux

/// The entry point of the program: finds the command and passes it the words after its name.
@main
struct Tonearm {
    private static let commands =
        [
            "run", "play", "login", "logout", "search", "devices", "probe", "loudness", "board", "update",
        ] + daemonCommands
    /// The commands for the daemon, except `play --daemon`.
    private static let daemonCommands =
        [
            "status", "queue", "playlist", "library", "offline", "events", "focus", "wifi", "config",
        ] + TransportCommand.names
    /// All commands, with old names and one for systems, which are accepted but not listed.
    private static let known = commands + TransportCommand.oldNames.keys + ["confine"]

    static func main() {
        occupyStandardDescriptors()
        #if hasFeature(Embedded)
            // Only in released programs: the host's crash reports need the memory.
            tonearm_hide_memory()
        #endif
        let words = (0..<tonearm_argument_count()).compactMap { index in
            tonearm_argument(index).map { FileName.text(of: $0) }
        }
        exit(checkOutput(run(Array(words.dropFirst()))))
    }

    /// Reports output that could not be written: a script must not take a part for the whole. A reader that has closed
    /// its pipe needs no message.
    private static func checkOutput(_ exitCode: Int32) -> Int32 {
        guard let failure = TextOutput.failure else { return exitCode }
        if failure.code != EPIPE { Console().complain("the output cannot be written: \(failure.reason)") }
        return exitCode == ExitCode.fine ? ExitCode.failed : exitCode
    }

    /// Occupies the numbers of stdout and stderr when they are closed. Otherwise a file that is opened later could get
    /// one, and messages would be written into it. Writing to the replacement is an error, as it was before.
    private static func occupyStandardDescriptors() {
        var descriptor: Int32
        repeat { descriptor = tonearm_open("/dev/null", O_RDONLY, 0) } while (0...STDERR_FILENO).contains(descriptor)
        close(descriptor)
    }

    /// - Returns: the exit code.
    static func run(_ words: [String]) -> Int32 {
        guard let command = words.first else {
            return complain("no command. Commands: \(commands.joined(separator: ", ")).", command: nil)
        }
        let rest = Array(words.dropFirst())
        if known.contains(command), Arguments.askForHelp(rest) { return show(help(command)) }
        do throws(UsageError) {
            switch command {
            case "--help", "-h", "help":
                guard let topic = rest.first, topic != "help", topic.utf8.first != UInt8(ascii: "-")
                else { return show(HelpText.program) }
                if !known.contains(topic) { throw unknown(topic) }
                return show(help(topic))
            case "--version": return show("tonearm \(tonearmVersion)\nLicense: \(tonearmLicense)")
            case "run": return try RunCommand(rest).run()
            case "play" where Arguments.ask(for: "--daemon", rest): return try QueueCommand(playing: rest).run()
            case "play" where TransportCommand.isPlay(rest): return try TransportCommand("play", rest).run()
            case "play": return try PlayCommand(rest).run()
            case "login", "logout": return try LoginCommand(command, rest).run()
            case "search": return try SearchCommand(rest).run()
            case "board": return try BoardCommand(rest).run()
            case "update": return try UpdateCommand(rest).run()
            case "confine": return try ConfineCommand(rest).run()
            case "devices": return try DevicesCommand(rest).run()
            case "probe": return try ProbeCommand(rest).run()
            case "loudness": return try LoudnessCommand(rest).run()
            case "status": return try StatusCommand(rest).run()
            case "queue": return try QueueCommand(rest).run()
            case "playlist": return try PlaylistCommand(rest).run()
            case "library": return try LibraryCommand(rest).run()
            case "offline": return try OfflineCommand(rest).run()
            case "events": return try EventsCommand(rest).run()
            case "focus": return try FocusCommand(rest).run()
            case "wifi": return try WiFiCommand(rest).run()
            case "config": return try ConfigCommand(rest).run()
            case _ where TransportCommand.names.contains(command) || TransportCommand.oldNames[command] != nil:
                return try TransportCommand(command, rest).run()
            default: throw unknown(command)
            }
        } catch {
            return complain(error.message, command: known.contains(command) ? command : nil)
        }
    }

    private static func unknown(_ command: String) -> UsageError {
        if command.utf8.first == UInt8(ascii: "-") {
            return UsageError(
                "unknown option \(command)." + Suggestion.text(for: command, among: ["--help", "--version"]))
        }
        if FileKind(at: command) != nil {
            return UsageError("\(command): no command. To play it: `tonearm play \(command)`.")
        }
        return UsageError("\(command): no such command." + Suggestion.text(for: command, among: commands))
    }

    private static func help(_ command: String) -> String {
        switch command {
        case "run": HelpText.run
        case "play": HelpText.play
        case "login", "logout": HelpText.login
        case "search": HelpText.search
        case "board": HelpText.board
        case "update": HelpText.update
        case "confine": HelpText.confine
        case "devices": HelpText.devices
        case "probe": HelpText.probe
        case "loudness": HelpText.loudness
        case "status": HelpText.status
        case "queue": HelpText.queue
        case "playlist": HelpText.playlist
        case "library": HelpText.library
        case "offline": HelpText.offline
        case "events": HelpText.events
        case "focus": HelpText.focus
        case "wifi": HelpText.wifi
        case "config": HelpText.config
        default: HelpText.transport
        }
    }

    private static func show(_ text: String) -> Int32 {
        TextOutput.standard.write(text + "\n")
        return ExitCode.fine
    }

    private static func complain(_ message: String, command: String?) -> Int32 {
        let help = command.map { "tonearm \($0) --help" } ?? "tonearm --help"
        Console().complain("\(message) See `\(help)`.")
        return ExitCode.usage
    }
}
