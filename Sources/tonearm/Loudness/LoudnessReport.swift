import PCM
import Platform
import Player

/// The output of `tonearm loudness`: a bar on a terminal, else a line for each file, and the totals; or JSON lines.
///
/// Thread: only the main thread.
final class LoudnessReport {
    private let console: Console
    private let json: Bool
    /// The number of files of the whole scan.
    private var count = 0
    private var done = 0
    /// The permille that was shown last.
    private var shown = -1
    private var totals = Totals()

    private struct Totals {
        var measured = 0
        var known = 0
        var tagged = 0
        var withoutLoudness = 0
        var failed = 0
    }

    init(_ console: Console, json: Bool) {
        self.console = console
        self.json = json
    }

    var hasFailed: Bool { totals.failed > 0 }

    func begin(count: Int) { self.count = count }

    /// Adds a path without music.
    func add(_ problem: MusicProblem) { fail(problem.path, problem.code, problem.message) }

    func add(_ path: String, _ outcome: LoudnessScan.Outcome) {
        done += 1
        switch outcome {
        case .measured(let gain):
            totals.measured += 1
            show(path, "measured", Self.text(gain), gain)
        case .known:
            totals.known += 1
            show(path, "known", "measured before")
        case .tagged:
            totals.tagged += 1
            show(path, "tagged", "has tags of loudness")
        case .tooShort:
            totals.withoutLoudness += 1
            show(path, "tooShort", "shorter than 0.4 s: no gain")
        case .silent:
            totals.withoutLoudness += 1
            show(path, "silent", "silent: no gain")
        case .failed(let code, let message): fail(path, code, message)
        }
        progress(path, 0)
    }

    private func fail(_ path: String, _ code: String, _ message: String) {
        totals.failed += 1
        console.complain(message)
        if json { console.print(JSONMessages.error(file: path, code: code, message: message).serialized()) }
    }

    private func show(_ path: String, _ result: String, _ text: String, _ gain: ReplayGain = ReplayGain()) {
        if json {
            let value: JSONValue = [
                "event": "file", "file": .string(path), "result": .string(result),
                "trackGain": JSONValue(gain.trackGain), "trackPeak": JSONValue(gain.trackPeak),
                "albumGain": JSONValue(gain.albumGain), "albumPeak": JSONValue(gain.albumPeak),
            ]
            console.print(value.serialized())
        } else if !console.isTerminal {
            console.print(DisplayText.visible("\(path): \(text)"))
        }
    }

    private static func text(_ gain: ReplayGain) -> String {
        func part(_ name: String, _ gain: Double?, _ peak: Double?) -> String {
            guard let gain, let peak else { return "\(name) unknown" }
            return "\(name) \(gain.fixed(2)) dB, peak \(peak.fixed(6))"
        }
        return part("track", gain.trackGain, gain.trackPeak) + "; " + part("album", gain.albumGain, gain.albumPeak)
    }

    /// Shows the progress on a terminal.
    /// - Parameter part: the measured part of the file at `path`, from 0 to 1.
    func progress(_ path: String, _ part: Double) {
        guard console.isTerminal, !json, count > 0 else { return }
        let permille = Int((Double(done) + part) / Double(count) * 1000)
        guard permille != shown else { return }
        shown = permille
        console.draw(Self.bar(done, count, permille / 10, columns: console.columns))
    }

    /// A line that fits the terminal: `12 of 80 [#####     ]  15 %`.
    static func bar(_ done: Int, _ count: Int, _ percent: Int, columns: Int) -> String {
        let name = "\(done) of \(count)"
        let number = String(repeating: " ", count: max(0, 3 - "\(percent)".utf8.count)) + "\(percent) %"
        // Subtract brackets and blanks, and the last column, at which some terminals wrap.
        let room = min(columns - name.utf8.count - number.utf8.count - 5, 50)
        guard room >= 10 else { return "\(name) \(number)" }
        let full = room * min(percent, 100) / 100
        return "\(name) [\(String(repeating: "#", count: full))\(String(repeating: " ", count: room - full))] \(number)"
    }

    /// Prints the totals.
    /// - Parameter isComplete: false when the rest was not measured.
    func end(isComplete: Bool) {
        console.endLine()
        if json {
            let value: JSONValue = [
                "event": "summary", "complete": .boolean(isComplete), "measured": JSONValue(totals.measured),
                "known": JSONValue(totals.known), "tagged": JSONValue(totals.tagged),
                "withoutLoudness": JSONValue(totals.withoutLoudness), "failed": JSONValue(totals.failed),
            ]
            console.print(value.serialized())
            return
        }
        console.print(
            "\(totals.measured) measured, \(totals.known) measured before, \(totals.tagged) with tags, "
                + "\(totals.withoutLoudness) silent or too short, \(totals.failed) failed")
    }
}
