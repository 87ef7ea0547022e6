import Foundation
import TestSupport
import Testing

/// Power cuts while sessions are recorded and delivered (docs/playback.md, 19.9 and 19.13).
@Suite("A power cut while events are recorded")
struct EventCutTests {
    private struct Run {
        var code: Int32
        var lines: [[String]]

        func words(_ first: String) -> [[String]] { lines.filter { $0.first == first } }
    }

    private func run(_ state: ScratchFolder, call: Int, _ mode: String) throws -> Run {
        let result = try WriterProcess.run("events", state.path, "\(call)", mode)
        return Run(
            code: result.code,
            lines: result.text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) })
    }

    /// Makes at least `TONEARM_EVENT_CUTS` cuts, spread over all file calls, with and without the loss of data that is
    /// not synced.
    @Test("no event is sent under two ids, and none of a session that the service knows is lost")
    func cuts() throws {
        let wanted = ProcessInfo.processInfo.environment["TONEARM_EVENT_CUTS"].flatMap { Int($0) } ?? 20
        let whole = try run(try ScratchFolder(), call: -1, "keep")
        try #require(whole.code == 0, "\(whole.lines)")
        let calls = try #require(whole.words("calls").first?.last.flatMap { Int($0) })
        var (cuts, round) = (0, 0)
        while cuts < wanted {
            let step = max(1, 2 * calls / wanted)
            for call in stride(from: round, to: calls, by: step) where cuts < wanted {
                for mode in ["keep", "lose"] {
                    let state = try ScratchFolder()
                    let cut = try run(state, call: call, mode)
                    // A run may have fewer calls than the one that was counted.
                    try #require(cut.code == 99 || cut.code == 0, "call \(call), \(mode): \(cut)")
                    if cut.code == 99 { cuts += 1 }
                    let rest = try run(state, call: -2, "keep")
                    try #require(rest.code == 0, "\(rest)")
                    check(cut, rest, "call \(call), \(mode)")
                }
            }
            round += 1
        }
    }

    private func check(_ cut: Run, _ rest: Run, _ name: String) {
        var ids: Set<String> = []
        var names: [String: [String]] = [:]
        for event in cut.words("sent") + rest.words("sent") where ids.insert(event[1]).inserted {
            names[event[2], default: []].append(event[3])
        }
        for (session, events) in names where session != "-" {
            #expect(events.first == "streaming_session_start", "\(name): \(events)")
            #expect(events.last == "streaming_session_end", "\(name): \(events)")
            #expect(Set(events).count == events.count, "\(name): \(events)")
        }
        // The first fact of a session was on the medium.
        for begun in cut.words("begun") { #expect(names[begun[1]] != nil, "\(name): a session is lost") }
    }
}
