import OutputTestSupport
import PCM
import TestSupport
import Testing

@testable import Output

/// A render loop on the test's own thread, with a card that plays when the test allows it and a clock that the test
/// moves.
///
/// Most streams run at 1000 Hz: a frame is a millisecond, the device holds 200 frames in periods of 50.
final class RenderBench {
    let card = PacedCard()
    let clock = ManualClock()
    let channel = RendererChannel()
    let loop: RenderLoop
    /// Streams are held by control.
    private var streams: [TestStream] = []

    static let mono = PCMFormat(sampleRate: 1000, channelCount: 1, bitDepth: 16)

    init(_ settings: RendererSettings = RendererSettings(device: "paced")) {
        loop = RenderLoop(provider: card, clock: clock, settings: settings, channel: channel)
    }

    /// A stream, numbered from 1, with `frames` frames and, unless it is `open`, its end.
    func stream(
        _ frames: Int = 0, format: PCMFormat = mono, from startPosition: Int64 = 0, open isOpen: Bool = false,
        ahead: Int = 1500
    ) -> TestStream {
        let id = streams.count + 1
        let stream = TestStream(id: id, format: format, startPosition: startPosition, ahead: ahead)
        streams.append(stream)
        stream.write(frames)
        if !isOpen { stream.end() }
        return stream
    }

    // MARK: Control

    @discardableResult func send(_ command: RendererCommand) -> Bool {
        defer { channel.processed.add(1, ordering: .releasing) }
        return loop.handle(command)
    }

    func begin(_ stream: TestStream) { send(.begin(.passUnretained(stream.stream))) }
    func setNext(_ stream: TestStream?) { send(.setNext(stream.map { .passUnretained($0.stream) })) }
    func run(_ generation: UInt64 = 1) { send(.run(generation: generation)) }
    func hold() { send(.hold) }

    /// As `begin`, `run`, and the steps that are possible at once.
    func play(_ stream: TestStream, then next: TestStream? = nil) {
        begin(stream)
        if let next { setNext(next) }
        run()
        settle()
    }

    /// The events since the last call.
    var events: [String] {
        var texts: [String] = []
        while let event = channel.events.pop() { texts.append(event.text) }
        return texts
    }

    var position: RenderPosition { channel.position.read() }

    // MARK: The audio thread

    /// Runs the loop as long as it has work at once.
    @discardableResult func settle() -> RenderLoop.Wait {
        for _ in 0..<1000 {
            let wait = loop.step()
            if wait != .time(milliseconds: 0) { return wait }
        }
        Issue.record("the loop has gone on 1000 times and still does not wait")
        return .command
    }

    /// The card plays `frames` frames, as far as it gets any, and the loop is woken for each period.
    @discardableResult func hear(_ frames: Int, period: Int = 50) -> RenderLoop.Wait {
        var remaining = frames
        var wait = settle()
        while remaining > 0, case let heard = card.advance(min(period, remaining)), heard > 0 {
            remaining -= heard
            wait = settle()
        }
        return wait
    }

    /// The played frames, in order.
    var heard: [Heard] { Self.decode(card.recordings) }

    static func decode(_ recordings: [PacedCard.Recording]) -> [Heard] {
        var heard: [Heard] = []
        for recording in recordings {
            let channels = recording.configuration.channelCount
            for (index, sample) in recording.samples.enumerated() {
                let (stream, frame, channel) = TestStream.decode(sample)
                guard channel == index % channels else {
                    return heard + [Heard(stream: -1, frames: index..<(index + 1))]
                }
                guard channel == 0 else { continue }
                if let last = heard.last, last.stream == stream, last.frames.upperBound == frame {
                    heard[heard.count - 1].frames = last.frames.lowerBound..<(frame + 1)
                } else {
                    heard.append(Heard(stream: stream, frames: frame..<(frame + 1)))
                }
            }
        }
        return heard
    }
}

/// Consecutive frames of one stream; stream −1 for frames of no stream.
struct Heard: Equatable, CustomStringConvertible {
    var stream: Int
    var frames: Range<Int>

    var description: String { "\(stream): \(frames)" }
}

func frames(_ frames: Range<Int>, of stream: Int) -> Heard { Heard(stream: stream, frames: frames) }

/// A stream whose samples identify the stream and the frame.
final class TestStream {
    let stream: PCMStream
    private(set) var format: PCMFormat
    /// Frames written.
    private(set) var frames = 0

    /// - Parameter ahead: milliseconds that fit into the ring, besides the frames that the device may have unheard.
    init(id: Int, format: PCMFormat, startPosition: Int64 = 0, ahead: Int = 1500) {
        self.format = format
        stream = try! PCMStream(
            id: UInt64(id), format: format, startPosition: startPosition, deviceMilliseconds: 200,
            aheadMilliseconds: ahead)
    }

    /// Writes up to `count` frames.
    /// - Returns: how many there was room for.
    @discardableResult func write(_ count: Int) -> Int {
        var written = 0
        while written < count, case let region = stream.ring.writableRegion(), region.count >= format.channelCount {
            let amount = min(count - written, region.count / format.channelCount)
            for index in 0..<(amount * format.channelCount) {
                let (frame, channel) = index.quotientAndRemainder(dividingBy: format.channelCount)
                region[index] = Self.encode(Int(stream.id), frames + frame, channel)
            }
            stream.ring.commit(amount * format.channelCount)
            written += amount
            frames += amount
        }
        return written
    }

    @discardableResult func change(to format: PCMFormat) -> Bool {
        guard stream.ring.put(.format(format)) else { return false }
        self.format = format
        return true
    }

    @discardableResult func end() -> Bool { stream.ring.put(.end) }

    static func encode(_ stream: Int, _ frame: Int, _ channel: Int) -> Int32 {
        Int32(stream << 24 | frame << 3 | channel)
    }

    static func decode(_ sample: Int32) -> (stream: Int, frame: Int, channel: Int) {
        (Int(sample >> 24), Int(sample >> 3 & 0x1f_ffff), Int(sample & 7))
    }
}

extension RendererEvent {
    /// The event in a word, with its values. Releases its references.
    var text: String {
        switch kind {
        case .opened(_, let box):
            let configuration = box.takeRetainedValue().configuration
            let adaptation = configuration.adaptation.map { " \($0)" } ?? ""
            return "opened \(configuration.sampleRate)/\(configuration.channelCount)\(adaptation)"
        case .running(let generation): return "running \(generation)"
        case .starved(let generation): return "starved \(generation)"
        case .reopening(let question): return "reopening \(question)"
        case .heard(let stream): return "heard \(stream)"
        case .formatHeard(let stream, let format):
            return "format \(stream) \(format.sampleRate)/\(format.channelCount)/\(format.bitDepth)"
        case .ended(let stream): return "ended \(stream)"
        case .deviceLost(let generation, let box):
            box.release()
            return "lost \(generation)"
        case .refused(let stream, let box):
            box.release()
            return "refused \(stream)"
        }
    }
}

extension RenderPosition {
    static func frame(_ frame: Int, of stream: Int, rate: Int = 1000) -> RenderPosition {
        RenderPosition(stream: UInt64(stream), nanoseconds: Int64(frame) * 1_000_000_000 / Int64(rate))
    }
}
