import Board
import CLinux
import Output
import Platform

/// `tonearm board`: tries a profile on the hardware that it describes.
struct BoardCommand {
    private enum Task {
        case check(profile: String)
        case watch(profile: String)
        case dac(DACCommand)
    }

    private let task: Task
    private let console = Console()

    init(_ words: [String]) throws(UsageError) {
        if words.first == "dac" {
            task = .dac(try DACCommand(Array(words.dropFirst())))
            return
        }
        let arguments = try Arguments(parsing: words, knowing: [])
        let operands = arguments.operands
        guard let word = operands.first else { throw UsageError("board what? check, watch or dac.") }
        guard operands.count == 2 || !["check", "watch"].contains(word) else {
            throw UsageError("board \(word) takes one profile: a board.conf.")
        }
        switch word {
        case "check": task = .check(profile: operands[1])
        case "watch": task = .watch(profile: operands[1])
        default:
            throw UsageError("board \(word): unknown." + Suggestion.text(for: word, among: ["check", "watch", "dac"]))
        }
    }

    /// - Returns: the exit code.
    func run() -> Int32 {
        switch task {
        case .check(let path): use(path, check)
        case .watch(let path): use(path, watch)
        case .dac(let command): command.run()
        }
    }

    private func use(_ path: String, _ perform: (BoardProfile) -> Int32) -> Int32 {
        do throws(BoardProfileError) {
            let profile = try BoardProfile(path: path)
            for notice in profile.notices { console.complain("note: \(notice)") }
            return perform(profile)
        } catch {
            for line in error.lines { console.complain(line) }
            return ExitCode.configuration
        }
    }

    private func check(_ profile: BoardProfile) -> Int32 {
        let findings = BoardCheck.findings(profile, lines: GPIOLines(), mixer: CardMixer.init(card:))
        var text = "\(profile.name)\n"
        for finding in findings {
            let verdict =
                switch finding.verdict {
                case .present: "ok     "
                case .absent: "absent "
                case .missing: "MISSING"
                }
            text += "  \(verdict)  \(finding.subject): \(finding.message)\n"
        }
        TextOutput.standard.write(text)
        return findings.contains { $0.verdict == .missing } ? ExitCode.failed : ExitCode.fine
    }

    /// Prints every edge and its effect, until a signal ends it.
    private func watch(_ profile: BoardProfile) -> Int32 {
        do throws(SystemError) {
            let loop = try EventLoop()
            try loop.onSignal([SIGINT, SIGTERM]) { _ in loop.stop() }
            let buttons = Buttons(profile, lines: GPIOLines(), loop: loop, clock: SystemMonotonicClock()) { event in
                if !TextOutput.standard.write("\(event.description)\n") { loop.stop() }
            }
            buttons.start()
            loop.run()
            buttons.stop()
            return ExitCode.fine
        } catch {
            console.complain(error.description)
            return ExitCode.failed
        }
    }
}

extension CardMixer {
    fileprivate init(card: String) {
        do throws(DeviceError) {
            let controls = try MixerControl.all(card: card)
            self = .controls(
                controls.map { Control(name: $0.name, range: $0.decibelRange, hasVolume: $0.stepRange != nil) },
                chosen: MixerControl.choose(among: controls)?.name)
        } catch {
            self = .unusable(error.description)
        }
    }
}
