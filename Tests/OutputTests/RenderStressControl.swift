import CLinux
import OutputTestSupport
import PCM
import Platform
import TestSupport
import Testing

@testable import Output

/// A control thread that gives random commands, a producer thread that is sometimes early and sometimes late, and a
/// card. The card plays irregularly, runs dry, fails, vanishes and comes back.
///
/// Thread: the test's.
final class RenderStressControl {
    private let card = PacedCard()
    private let clock = ManualClock()
    private let renderer: Renderer
    private let producer: StressProducer
    private var random: SeededRandom

    private var streams: [TestStream] = []
    private var lengths: [Int] = []
    private var current = 0
    private var next: Int?
    private var generation: UInt64 = 0
    private var lastBegin: UInt64 = 0
    private var hasEnded = false

    /// Streams that did not follow another one.
    private(set) var begun: Set<Int> = []
    /// Streams that the renderer reported as heard.
    private(set) var toldAsHeard: [Int] = []
    private(set) var lastStream = 0

    init(seed: UInt64) throws {
        random = SeededRandom(seed)
        producer = try StressProducer(seed: seed)
        let settings = RendererSettings(device: "paced", sampleFormat: .s32)
        renderer = try Renderer(provider: card, clock: clock, settings: settings, priority: .normal)
        begin(newStream())
        run()
    }

    func length(of stream: Int) -> Int { lengths[stream - 1] }

    /// Gives commands until so many streams were made.
    func play(streams count: Int) {
        while streams.count < count {
            command()
            card.playWhenAsked(Int.random(in: 0...150, using: &random))
            renderer.nudge()
            clock.advance(by: Int64.random(in: 0...5_000_000, using: &random))
            for _ in 0..<Int.random(in: 0...8, using: &random) {
                Deadline.giveWay()
                fetchEvents()
            }
            if hasEnded { begin(newStream(atLeast: 1)) }
            if Bool.random(using: &random) { letItPlay(Int.random(in: 0...300, using: &random)) }
        }
    }

    /// Plays `frames` more frames, if it plays now.
    private func letItPlay(_ frames: Int) {
        let target = card.heardFrames + frames
        for _ in 0..<100 where card.heardFrames < target {
            card.playWhenAsked(20)
            renderer.nudge()
            Deadline.giveWay()
            fetchEvents()
        }
    }

    /// Plays until everything was heard.
    /// - Returns: all that the card played.
    func finish() -> [Heard] {
        renderer.setNext(nil)
        next = nil
        lastStream = newStream(atLeast: 100)
        begin(lastStream)
        run()
        card.plugIn()
        expectSoon("the end") {
            card.playWhenAsked(50)
            clock.advance(by: 10_000_000)
            renderer.nudge()
            fetchEvents()
            return hasEnded
        }
        renderer.shutDown()
        producer.stop()
        return RenderBench.decode(card.recordings)
    }

    private func command() {
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<4: renderer.hold()
        case 4..<10: run()
        case 10..<13: if next == nil || Int.random(in: 0..<4, using: &random) == 0 { setNext(newStream()) }
        case 13: setNext(nil)
        case 14: begin(newStream(atLeast: 1))
        case 15: streams.randomElement(using: &random)?.stream.gain = .unity
        case 16: card.inject([.underrun, .suspended, .failed(code: -5), .vanished].randomElement(using: &random)!)
        case 17: card.unplug()
        default:
            card.plugIn()
            clock.advance(by: 1_000_000_000)
        }
    }

    private func newStream(atLeast least: Int = 0) -> Int {
        let id = streams.count + 1
        precondition(id < 127)
        let format = StressProducer.formats.randomElement(using: &random)!
        let stream = TestStream(id: id, format: format)
        let length = Int.random(in: least...(Bool.random(using: &random) ? 30 + least : 700), using: &random)
        streams.append(stream)
        lengths.append(length)
        producer.add(stream, length: length)
        return id
    }

    private func begin(_ stream: Int) {
        begun.insert(stream)
        current = stream
        hasEnded = false
        lastBegin = renderer.begin(streams[stream - 1].stream)
    }

    private func setNext(_ stream: Int?) {
        next = stream
        renderer.setNext(stream.map { streams[$0 - 1].stream })
    }

    private func run() {
        generation += 1
        renderer.run(generation: generation)
    }

    private func fetchEvents() {
        while let event = renderer.nextEvent() {
            let words = event.text.split(separator: " ")
            guard let id = Int(words[1]) else { continue }
            switch words[0] {
            case "heard":
                toldAsHeard.append(id)
                if next == id { next = nil }
                if event.processedCommands >= lastBegin { current = id }
            case "ended" where event.processedCommands >= lastBegin && id == current:
                hasEnded = true
                if let next {
                    self.next = nil
                    renderer.setNext(nil)
                    begin(next)
                }
            default:
                break
            }
        }
    }
}

/// Writes the streams' frames, with changes of format in between, in runs of random size.
// @unchecked: `lock` guards the mutable state; only `init` sets `thread`.
private final class StressProducer: @unchecked Sendable {
    static let formats = [
        RenderBench.mono, RenderBench.mono, RenderBoundaryTests.deep, RenderBoundaryTests.fast,
        RenderBoundaryTests.wide,
    ]

    private let lock = Lock()
    /// Guarded by `lock`.
    private var added: [(stream: TestStream, length: Int)] = []
    private var isStopped = false
    private var thread: NamedThread?

    init(seed: UInt64) throws {
        thread = try NamedThread.start(name: "producer") { [self] in produce(SeededRandom(~seed)) }
    }

    func add(_ stream: TestStream, length: Int) { lock.withLock { added.append((stream, length)) } }

    func stop() {
        lock.withLock { isStopped = true }
        thread?.joinOrEndRun()
    }

    private func produce(_ random: SeededRandom) {
        var random = random
        var working: [(stream: TestStream, length: Int)] = []
        while true {
            let (new, isStopped) = lock.withLock {
                defer { added = [] }
                return (added, self.isStopped)
            }
            if isStopped { return }
            working += new
            for index in working.indices.reversed() {
                let (stream, length) = working[index]
                if stream.frames < length {
                    stream.write(min(length - stream.frames, Int.random(in: 0...90, using: &random)))
                    if Int.random(in: 0..<12, using: &random) == 0 {
                        stream.change(to: Self.formats.randomElement(using: &random)!)
                    }
                } else if stream.end() {
                    working.remove(at: index)
                }
            }
            Deadline.giveWay()
        }
    }
}
