import PCM
import Testing

@testable import Output

@Suite("Which frame of which stream is heard")
struct HeardTimelineTests {
    private let mono = PCMFormat(sampleRate: 1000, channelCount: 1, bitDepth: 16)
    private let stereo = PCMFormat(sampleRate: 44_100, channelCount: 2, bitDepth: 16)

    private func run(_ stream: PCMStream) -> HeardTimeline.Run { HeardTimeline.Run(firstOf: .passUnretained(stream)) }

    private func stream(_ id: UInt64, _ format: PCMFormat) -> PCMStream {
        try! PCMStream(id: id, format: format, startPosition: 0, deviceMilliseconds: 1, aheadMilliseconds: 1)
    }

    struct Place: Sendable {
        var rate, channels: Int
        var ringStart: Int64 = 0
        var position: Int64
        var mediaStart: Int64 = 0
        var expected: Int64
    }

    @Test(
        "A ring position is a position in the product",
        arguments: [
            Place(rate: 44_100, channels: 2, position: 0, expected: 0),
            Place(rate: 44_100, channels: 2, position: 88_200, expected: 1_000_000_000),
            Place(rate: 44_100, channels: 2, position: 2, expected: 22_675),
            Place(rate: 48_000, channels: 6, ringStart: 840, position: 864_846, mediaStart: 5, expected: 3_000_020_838),
            // Ten days of 768 kHz do not overflow.
            Place(rate: 768_000, channels: 8, position: 5_308_416_000_000, expected: 864_000_000_000_000),
        ])
    func media(place: Place) {
        let format = PCMFormat(sampleRate: place.rate, channelCount: place.channels, bitDepth: 16)
        let stream = stream(1, format)
        let run = HeardTimeline.Run(
            stream: .passUnretained(stream), streamID: 1, format: format, ringStart: place.ringStart,
            mediaStart: place.mediaStart)
        #expect(run.media(at: place.position) == place.expected)
    }

    @Test(
        "Heard is what was written less the delay; never back, never beyond",
        arguments: [
            [100], [60], [60, 80], [0], [1000], [10, 1000, 0, 50],
        ])
    func heard(delays: [Int]) {
        let written = 100
        var timeline = HeardTimeline()
        let stream = stream(1, mono)
        timeline.begin(run(stream), at: 0)
        timeline.wrote(written)
        var expected = 0
        for delay in delays {
            let now = min(written, max(expected, written - delay))
            #expect(timeline.update(delayFrames: delay) == (now > expected))
            expected = now
            #expect(timeline.heard == Int64(expected))
            #expect(timeline.unheard == Int64(written - expected))
            #expect(timeline.heardRingPosition == Int64(expected))
        }
    }

    struct Step: Sendable {
        var heard: Int
        /// The stream that is heard then, and where in its ring.
        var stream: UInt64
        var position: Int64
    }

    @Test(
        "A segment is passed to when its first frame was heard, not before",
        arguments: [
            // 50 frames of stream 1, 1 of stream 2 and 49 of stream 3.
            Step(heard: 0, stream: 1, position: 840), Step(heard: 49, stream: 1, position: 938),
            Step(heard: 50, stream: 1, position: 940), Step(heard: 51, stream: 2, position: 2),
            Step(heard: 52, stream: 3, position: 1682), Step(heard: 100, stream: 3, position: 1778),
        ])
    func advance(step: Step) {
        let streams = (1...3).map { stream(UInt64($0), stereo) }
        var timeline = HeardTimeline()
        let (starts, lengths) = ([840, 0, 1680] as [Int64], [50, 1, 49])
        for index in 0..<3 {
            timeline.begin(run(streams[index]), at: starts[index])
            timeline.wrote(lengths[index])
        }
        _ = timeline.update(delayFrames: 100 - step.heard)
        var passed: [UInt64] = []
        while let segment = timeline.advance() { passed.append(segment.run.streamID) }
        #expect(passed == Array(2..<max(2, step.stream + 1)))
        #expect(timeline.current?.run.streamID == step.stream)
        #expect(timeline.heardRingPosition == step.position)
        #expect(timeline.segmentCount == 4 - Int(step.stream))
    }

    @Test("It is full with its last segment, and not when one was heard")
    func full() {
        let stream = stream(1, mono)
        var timeline = HeardTimeline()
        for index in 0..<HeardTimeline.capacity {
            #expect(!timeline.isFull)
            timeline.begin(run(stream), at: Int64(index))
            timeline.wrote(1)
        }
        #expect(timeline.isFull)
        _ = timeline.update(delayFrames: HeardTimeline.capacity - 1)
        #expect(timeline.advance() == nil)
        _ = timeline.update(delayFrames: HeardTimeline.capacity - 2)
        #expect(timeline.advance() != nil)
        #expect(!timeline.isFull)
    }

    @Test("Cleared, it counts from the beginning")
    func clear() {
        let stream = stream(1, mono)
        var timeline = HeardTimeline()
        timeline.begin(run(stream), at: 0)
        timeline.wrote(10)
        _ = timeline.update(delayFrames: 3)
        timeline.clear()
        #expect(timeline.heardRingPosition == nil)
        #expect(timeline.written == 0)
        #expect(timeline.heard == 0)
        #expect(timeline.segmentCount == 0)
        timeline.begin(run(stream), at: 7)
        #expect(timeline.heardRingPosition == 7)
    }
}
