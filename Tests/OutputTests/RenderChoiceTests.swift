import PCM
import Testing

@testable import Output

@Suite("Rendering: another device is chosen")
struct RenderChoiceTests {
    /// They live as long as the test: the loop does not hold them.
    private let other = DeviceNameBox("other")
    private let third = DeviceNameBox("third")

    private func choose(_ device: DeviceNameBox, _ bench: RenderBench) {
        bench.send(.use(.passUnretained(device)))
        bench.settle()
    }

    /// 120 of 400 frames were heard.
    private func playingBench() -> RenderBench {
        let bench = RenderBench()
        bench.play(bench.stream(400))
        bench.hear(120)
        return bench
    }

    /// The devices in the order in which they played, with what was heard of each.
    private func heard(_ bench: RenderBench) -> [String] {
        bench.card.recordings.map { "\($0.configuration.device): \(RenderBench.decode([$0]))" }
    }

    @Test("While it plays: every frame is heard once, on the one or on the other", arguments: [0, 137, 250, 399])
    func playing(frame: Int) {
        let bench = RenderBench()
        bench.play(bench.stream(400), then: bench.stream(100))
        bench.hear(frame)
        choose(other, bench)
        bench.hear(500)
        let first = frame == 0 ? "[]" : "[1: 0..<\(frame)]"
        #expect(heard(bench) == ["paced: \(first)", "other: [1: \(frame)..<400, 2: 0..<100]"])
        #expect(bench.events == ["opened 1000/1", "running 1", "opened 1000/1", "heard 2", "ended 2"])
    }

    @Test("Between two tracks of one format: the second one is heard on the other")
    func boundary() {
        let bench = RenderBench()
        bench.play(bench.stream(300), then: bench.stream(400))
        bench.hear(300)
        choose(other, bench)
        bench.hear(400)
        #expect(heard(bench) == ["paced: [1: 0..<300]", "other: [2: 0..<400]"])
    }

    @Test("With the amplifier's question, which comes before the device is closed")
    func question() {
        let bench = RenderBench()
        bench.send(.askBeforeReopening)
        bench.play(bench.stream(400))
        bench.hear(120)
        _ = bench.events
        choose(other, bench)
        #expect(bench.events == ["reopening 1"])
        #expect(bench.card.openingCount == 1)
        bench.send(.reopen(question: 1))
        bench.hear(280)
        #expect(bench.events == ["opened 1000/1", "running 1", "ended 1"])
        #expect(heard(bench) == ["paced: [1: 0..<120]", "other: [1: 120..<400]"])
    }

    @Test("On hold: the device is free at once, and the other one is opened by `run`")
    func onHold() {
        let bench = playingBench()
        bench.hold()
        bench.settle()
        choose(other, bench)
        #expect(!bench.card.isOpen)
        #expect(bench.card.openingCount == 1)
        bench.run(2)
        bench.hear(280)
        #expect(heard(bench) == ["paced: [1: 0..<120]", "other: [1: 120..<400]"])
    }

    @Test("While the first is away: the other one is opened at once, without waiting for the second to be over")
    func away() {
        let bench = playingBench()
        bench.card.unplug()
        bench.settle()
        bench.card.plugIn()
        choose(other, bench)
        bench.hear(280)
        #expect(heard(bench) == ["paced: [1: 0..<120]", "other: [1: 120..<400]"])
    }

    @Test("Of two choices in a row the last one counts, and one that is away is tried again each second")
    func lastCounts() {
        let bench = playingBench()
        bench.card.refuse(with: .absent(device: "other", present: []))
        bench.send(.use(.passUnretained(other)))
        choose(third, bench)
        #expect(bench.events == ["opened 1000/1", "running 1", "lost 1"])
        bench.card.plugIn()
        bench.clock.advance(by: 1_000_000_000)
        bench.hear(280)
        #expect(heard(bench) == ["paced: [1: 0..<120]", "third: [1: 120..<400]"])
    }
}
