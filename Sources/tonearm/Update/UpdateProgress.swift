import Appliance
import Platform

/// Shows the progress of an update: a bar on a terminal, one JSON object for each percent, or nothing.
///
/// Thread: only the main thread.
final class UpdateProgress {
    private let console: Console
    private let json: Bool
    /// The progress that was shown last.
    private var shown: (step: UpdateInstallation.Step, percent: Int)?

    init(_ console: Console, json: Bool) {
        self.console = console
        self.json = json
    }

    func show(_ step: UpdateInstallation.Step, done: Int64, of total: Int64) {
        let percent = Int(done * 100 / max(total, 1))
        if let shown, shown.step == step, shown.percent == percent { return }
        shown = (step, percent)
        if json {
            let value: JSONValue = [
                "event": "progress", "step": .string(step.name), "percent": .integer(Int64(percent)),
            ]
            console.print(value.serialized())
        } else if console.isTerminal {
            console.draw(Self.bar(step, percent: percent, columns: console.columns))
        }
    }

    func end() { console.endLine() }

    /// A line that fits the terminal: `writing     [#####     ]  50 %`.
    static func bar(_ step: UpdateInstallation.Step, percent: Int, columns: Int) -> String {
        let name = step.name + String(repeating: " ", count: 11 - step.name.utf8.count)
        return ProgressBar.line(name, percent: percent, columns: columns)
    }
}
