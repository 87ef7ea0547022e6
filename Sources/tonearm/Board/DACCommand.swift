import Board
import Platform

/// `tonearm board dac`: the DAC on the header, named by the user or detected.
///
/// It prints lines of `key=value` for the scripts of the images.
struct DACCommand {
    private let name: String
    private let table: String
    private let tree: String
    private let bus: String
    private let console = Console()

    init(_ words: [String]) throws(UsageError) {
        let arguments = try Arguments(
            parsing: words,
            knowing: [
                .init("--table", value: "FILE"), .init("--tree", value: "FOLDER"), .init("--bus", value: "DEVICE"),
            ])
        guard arguments.operands.count == 1 else { throw UsageError("board dac takes one name, or auto, or list.") }
        name = arguments.operands[0]
        table = arguments.value(of: "--table") ?? DACTable.usualPath
        tree = arguments.value(of: "--tree") ?? HATIdentity.usualTree
        bus = arguments.value(of: "--bus") ?? I2CBus.ofHeader
    }

    /// - Returns: the exit code.
    func run() -> Int32 {
        do throws(BoardProfileError) {
            let table = try DACTable(path: table)
            switch name {
            case "list": return list(table)
            case "auto": return find(table)
            default: return show(table)
            }
        } catch {
            for line in error.lines { console.complain(line) }
            return ExitCode.configuration
        }
    }

    private func list(_ table: DACTable) -> Int32 {
        let width = table.dacs.map { $0.name.utf8.count }.max() ?? 0
        for dac in table.dacs {
            let padding = String(repeating: " ", count: width - dac.name.utf8.count)
            let isSupported = if case .supported = dac.support { true } else { false }
            console.print("\(dac.name)\(padding)  \(dac.title)\(isSupported ? "" : " (not supported)")")
        }
        return ExitCode.fine
    }

    private func show(_ table: DACTable) -> Int32 {
        do throws(UnusableDAC) {
            for line in Self.lines(of: try table.dac(named: name)) { console.print(line) }
            return ExitCode.fine
        } catch {
            console.complain(error.description)
            return ExitCode.failed
        }
    }

    private func find(_ table: DACTable) -> Int32 {
        let identity = HATIdentity(tree: tree)
        guard let found = search(table, identity) else {
            console.print("by=nothing")
            if let product = identity?.product { console.print("product=\(DisplayText.visible(product))") }
            return ExitCode.fine
        }
        for line in Self.lines(of: found.dac) { console.print(line) }
        console.print("by=\(found.evidence.rawValue)")
        return ExitCode.fine
    }

    private func search(_ table: DACTable, _ identity: HATIdentity?) -> (dac: HeaderDAC, evidence: DACEvidence)? {
        do throws(SystemError) {
            let bus = try I2CBus(bus)
            return table.find(identity) { bus.read($0, $1) }
        } catch {
            console.complain("note: \(error.description)")
            return table.find(identity) { _, _ in nil }
        }
    }

    private static func lines(of dac: HeaderDAC) -> [String] {
        var lines = ["name=\(dac.name)", "title=\(dac.title)"]
        switch dac.support {
        case .supported(let parts): lines += ["overlay=\(parts.overlay)", "card=\(parts.sound.cards[0])"]
        case .unsupported(let reason): lines.append("unsupported=\(reason)")
        }
        if let note = dac.note { lines.append("note=\(note)") }
        return lines
    }
}
