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
    /// The number of files of each kind.
    private var totals = [Int](repeating: 0, count: Kind.allCases.count)

    /// The results that are counted.
    private enum Kind: Int, CaseIterable {
        case measured, known, tagged, withoutLoudness, failed

        static let names = ["measured", "known", "tagged", "withoutLoudness", "failed"]
        static let words = ["measured", "measured before", "with tags", "silent or too short", "failed"]
    }

    init(_ console: Console, json: Bool) {
        self.console = console
        self.json = json
    }

    var hasFailed: Bool { totals[Kind.failed.rawValue] > 0 }

    func begin(count: Int) { self.count = count }

    /// Adds a path without music.
    func add(_ problem: MusicProblem) { fail(problem.path, problem.code, problem.message) }

    func add(_ path: String, _ outcome: LoudnessScan.Outcome) {
        done += 1
        switch outcome {
        case .measured(let gain): show(path, .measured, "measured", Self.text(gain), gain)
        case .known: show(path, .known, "known", "measured before")
        case .tagged: show(path, .tagged, "tagged", "has tags of loudness")
        case .tooShort: show(path, .withoutLoudness, "tooShort", "shorter than 0.4 s: no gain")
        case .silent: show(path, .withoutLoudness, "silent", "silent: no gain")
        case .failed(let code, let message): fail(path, code, message)
        }
        progress(path, 0)
    }

    private func fail(_ path: String, _ code: String, _ message: String) {
        totals[Kind.failed.rawValue] += 1
        console.complain(message)
        if json { console.print(JSONMessages.error(file: path, code: code, message: message).serialized()) }
    }

    private func show(
        _ path: String, _ kind: Kind, _ result: String, _ text: String, _ gain: ReplayGain = ReplayGain()
    ) {
        totals[kind.rawValue] += 1
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
        let (track, album) = (gain.trackGain, gain.albumGain)
        return "track \(FileDescription.gain(track, gain.trackPeak) ?? "?"); "
            + "album \(FileDescription.gain(album, gain.albumPeak) ?? "?")"
    }

    /// Shows the progress on a terminal.
    /// - Parameter part: the measured part of the file at `path`, from 0 to 1.
    func progress(_ path: String, _ part: Double) {
        guard console.isTerminal, !json, count > 0 else { return }
        let permille = Int((Double(done) + part) / Double(count) * 1000)
        guard permille != shown else { return }
        shown = permille
        console.draw(ProgressBar.line("\(done) of \(count)", percent: permille / 10, columns: console.columns))
    }

    /// Prints the totals.
    /// - Parameter isComplete: false when the rest was not measured.
    func end(isComplete: Bool) {
        console.endLine()
        if json {
            var value: JSONValue = ["event": "summary", "complete": .boolean(isComplete)]
            for (name, total) in zip(Kind.names, totals) { value[name] = JSONValue(total) }
            console.print(value.serialized())
        } else {
            console.print(zip(totals, Kind.words).map { "\($0) \($1)" }.joined(separator: ", "))
        }
    }
}
