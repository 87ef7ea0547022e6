import PCM
import Testing

@testable import Output

@Suite("Rendering: boundaries between and within streams")
struct RenderBoundaryTests {
    static let deep = PCMFormat(sampleRate: 1000, channelCount: 1, bitDepth: 24)
    static let fast = PCMFormat(sampleRate: 2000, channelCount: 1, bitDepth: 16)
    static let wide = PCMFormat(sampleRate: 1000, channelCount: 6, bitDepth: 16)

    @Test("Streams of one rate and channel count are joined on one device", arguments: [RenderBench.mono, deep])
    func join(format: PCMFormat) {
        let bench = RenderBench()
        bench.play(bench.stream(333), then: bench.stream(444, format: format))
        bench.hear(333)
        #expect(bench.events == ["opened 1000/1", "running 1"])
        #expect(bench.position == .frame(333, of: 1))
        bench.hear(1)
        #expect(bench.events == ["heard 2"])
        #expect(bench.position == .frame(1, of: 2))
        bench.hear(443)
        #expect(bench.events == ["ended 2"])
        #expect(bench.heard == [frames(0..<333, of: 1), frames(0..<444, of: 2)])
    }

    @Test("Before a stream of another format the device is drained and reopened", arguments: [fast, wide])
    func reopen(format: PCMFormat) {
        let bench = RenderBench()
        bench.play(bench.stream(333), then: bench.stream(444, format: format))
        bench.hear(333)
        #expect(bench.position == .frame(333, of: 1))
        #expect(bench.events == ["opened 1000/1", "running 1", "opened \(format.sampleRate)/\(format.channelCount)"])
        bench.hear(1)
        #expect(bench.events == ["heard 2"])
        bench.hear(443)
        #expect(bench.heard == [frames(0..<333, of: 1), frames(0..<444, of: 2)])
        #expect(bench.events == ["ended 2"])
        #expect(bench.card.recordings.map(\.frames) == [333, 444])
    }

    @Test("A format for which the ring is too small to fill the device starts when the ring is full")
    func smallRing() {
        let bench = RenderBench()
        let format = PCMFormat(sampleRate: 10_000, channelCount: 6, bitDepth: 16)
        let stream = bench.stream(250, open: true)
        stream.change(to: format)
        bench.play(stream)
        bench.hear(250)
        // 200 ms are 12,000 samples; the ring has room for 1900 of mono.
        let fitting = stream.write(5000)
        #expect(fitting > 0 && fitting < 2000)
        bench.settle()
        #expect(bench.events == ["opened 1000/1", "running 1", "opened 10000/6"])
        #expect(bench.card.isStarted)
        var written = fitting
        for _ in 0..<100 where written < 5000 {
            bench.hear(100)
            written += stream.write(5000 - written)
        }
        stream.end()
        bench.settle()
        bench.hear(5000)
        #expect(bench.heard == [frames(0..<5250, of: 1)])
    }

    @Test("A full device is waited for no longer than until a boundary is heard")
    func waitForBoundary() {
        let bench = RenderBench()
        bench.play(bench.stream(100), then: bench.stream(400))
        #expect(bench.settle() == .device(milliseconds: 102))
        #expect(bench.hear(50) == .device(milliseconds: 52))
        #expect(bench.hear(50) == .device(milliseconds: 2))
        #expect(!bench.events.contains("heard 2"))
        #expect(bench.hear(1) == .device(milliseconds: 250))
        #expect(bench.events == ["heard 2"])
    }

    @Test(
        "A new format inside a stream is reported when it is heard; the position continues",
        arguments: [(deep, 1), (fast, 2), (wide, 2)])
    func formatInside(format: PCMFormat, openings: Int) {
        let bench = RenderBench()
        let stream = bench.stream(250, open: true)
        stream.change(to: format)
        stream.write(250)
        stream.end()
        bench.play(stream)
        bench.hear(250)
        #expect(bench.position == .frame(250, of: 1))
        #expect(!bench.events.contains { $0.hasPrefix("format") })
        bench.hear(1)
        #expect(bench.events == ["format 1 \(format.sampleRate)/\(format.channelCount)/\(format.bitDepth)"])
        #expect(bench.position.nanoseconds == 250_000_000 + 1_000_000_000 / Int64(format.sampleRate))
        bench.hear(249)
        #expect(bench.events == ["ended 1"])
        #expect(bench.heard == [frames(0..<500, of: 1)])
        #expect(bench.card.openingCount == openings)
    }

    @Test(
        "`hold` anywhere near a boundary and `run` lose and repeat nothing",
        arguments: [RenderBench.mono, deep, fast, wide], [100, 149, 150, 151, 299, 300, 301, 302, 449, 450, 451])
    func holdAcross(format: PCMFormat, heard: Int) {
        let bench = RenderBench()
        // Three boundaries: within 1, between 1 and 2, within 2; each within the device's buffer of the next.
        let first = bench.stream(150, open: true)
        first.change(to: format)
        first.write(150)
        first.end()
        let second = bench.stream(150, open: true)
        second.change(to: format)
        second.write(150)
        second.end()
        bench.play(first, then: second)
        bench.hear(heard)
        bench.hold()
        #expect(bench.card.pendingFrames == 0)
        if heard <= 300 { #expect(bench.position.stream == 1) } else { #expect(bench.position.stream == 2) }
        bench.run(2)
        bench.hear(600 - heard)
        #expect(bench.heard == [frames(0..<300, of: 1), frames(0..<300, of: 2)])
        let streams = bench.events.filter { $0.hasPrefix("heard") || $0.hasPrefix("ended") }
        #expect(streams == ["heard 2", "ended 2"])
    }

    @Test("Streams as short as can be are all heard, and reported in order", arguments: [0, 1, 49, 50, 51])
    func tinyStreams(length: Int) {
        let bench = RenderBench()
        let streams = (1...8).map { _ in bench.stream(length) }
        bench.play(streams[0], then: streams[1])
        var order: [String] = []
        // As control does it: the next stream is set when the one before is heard.
        for _ in 0..<(8 * length + 8) where order.last != "ended 8" {
            bench.hear(1)
            for event in bench.events {
                let words = event.split(separator: " ")
                guard let id = Int(words[1]) else { continue }
                if words[0] == "heard", id < 8 { bench.setNext(streams[id]) }
                if words[0] == "ended", id < 8 { bench.begin(streams[id]) }
                if words[0] == "heard" || words[0] == "ended" { order.append(event) }
            }
        }
        #expect(bench.heard == (1...8).filter { _ in length > 0 }.map { frames(0..<length, of: $0) })
        #expect(order.last == "ended 8")
        // Each one was either joined to the one before or begun after that had ended.
        for id in 2...8 { #expect(order.contains("heard \(id)") != order.contains("ended \(id - 1)")) }
    }

    @Test("A next stream without frames is heard and ends at the end of the one before")
    func emptyNext() {
        let bench = RenderBench()
        bench.play(bench.stream(120), then: bench.stream(0))
        bench.hear(119)
        #expect(bench.events == ["opened 1000/1", "running 1"])
        bench.hear(1)
        #expect(bench.events == ["heard 2", "ended 2"])
    }

    @Test("An empty stream is followed by the next one")
    func emptyFirst() {
        let bench = RenderBench()
        bench.play(bench.stream(0), then: bench.stream(100))
        bench.hear(100)
        #expect(bench.heard == [frames(0..<100, of: 2)])
        #expect(bench.events == ["opened 1000/1", "running 1", "heard 2", "ended 2"])
    }

    @Test("More boundaries than the timeline holds: all are reported, and the loop does not spin")
    func manyBoundaries() {
        let bench = RenderBench()
        let stream = bench.stream(1, open: true, ahead: 60_000)
        // Alternating depths on one device, a frame each.
        for index in 1..<63 {
            #expect(stream.change(to: index % 2 == 1 ? Self.deep : RenderBench.mono))
            stream.write(1)
        }
        bench.play(stream)
        #expect(bench.card.isStarted)
        #expect(bench.card.pendingFrames == HeardTimeline.capacity)
        guard case .time = bench.settle() else {
            Issue.record("a device with room must not be polled")
            return
        }
        bench.hear(20, period: 1)
        stream.end()
        bench.hear(43, period: 7)
        #expect(bench.heard == [frames(0..<63, of: 1)])
        let events = bench.events
        #expect(events.filter { $0.hasPrefix("format") }.count == 62)
        #expect(events.last == "ended 1")
    }

    @Test("Control that does not listen for long misses nothing")
    func eventQueueNearlyFull() {
        let bench = RenderBench()
        let stream = bench.stream(1, open: true, ahead: 60_000)
        var produced = 1
        func produce() {
            while produced < 1500, stream.change(to: produced % 2 == 1 ? Self.deep : RenderBench.mono) {
                stream.write(1)
                produced += 1
            }
        }
        bench.play(stream)
        var wait = RenderLoop.Wait.command
        for _ in 0..<1500 {
            produce()
            wait = bench.hear(1)
        }
        #expect(bench.card.heardFrames < 1024)
        guard case .time(let milliseconds) = wait, milliseconds > 0 else {
            Issue.record("\(wait): the loop must neither spin nor wait for the device alone")
            return
        }
        // Commands are still carried out.
        bench.run(2)
        bench.settle()
        var events = bench.events
        for _ in 0..<1500 {
            produce()
            bench.hear(1)
            events += bench.events
        }
        stream.end()
        bench.settle()
        events += bench.events
        #expect(bench.heard == [frames(0..<1500, of: 1)])
        #expect(events.filter { $0.hasPrefix("format") }.count == 1499)
        #expect(events.filter { !$0.hasPrefix("format") } == ["opened 1000/1", "running 1", "running 2", "ended 1"])
    }

    @Test("A format without frames is skipped")
    func emptyFormat() {
        let bench = RenderBench()
        let stream = bench.stream(0, open: true, ahead: 60_000)
        stream.change(to: Self.wide)
        stream.change(to: Self.deep)
        stream.write(100)
        stream.change(to: RenderBench.mono)
        stream.change(to: Self.deep)
        stream.write(100)
        stream.change(to: Self.fast)
        stream.end()
        bench.play(stream)
        bench.hear(200)
        #expect(bench.heard == [frames(0..<200, of: 1)])
        #expect(bench.card.recordings.filter { $0.frames > 0 }.count == 1)
        #expect(bench.events.last == "ended 1")
    }
}
