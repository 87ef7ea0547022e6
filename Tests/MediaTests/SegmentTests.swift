import PCM
import Testing

@testable import Media

@Suite("Segments", Tool.needsFFmpeg, Tool.needsFLAC, Tool.needsPackager)
struct SegmentTests {
    static let signal = Signal(frames: 250_000)

    /// The signal in segments of half a second, as Shaka Packager divides it.
    static let packaged = try? Packaged(
        signal.ffmpeg(MP4Tests.flac, to: "file.mp4"), "init_segment=init.mp4,segment_template=$Number$.m4s",
        ["--segment_duration", "0.5"])

    struct Parts {
        var initialization: [UInt8]
        var segments: [[UInt8]]
    }

    static func parts() throws -> Parts {
        let files = try #require(packaged).files
        var parts = Parts(initialization: try #require(files["init.mp4"]), segments: [])
        while let next = files["\(parts.segments.count + 1).m4s"] { parts.segments.append(next) }
        #expect(parts.segments.count == starts.count)
        return parts
    }

    /// The frames at which the segments begin, and the end.
    static let starts = [0, 5, 10, 15, 20, 24, 29, 34, 39, 44, 48, 53].map { $0 * 4608 }

    static func timeline(first: Int = 0, shift: Double = 0, isComplete: Bool = true) -> SegmentTimeline {
        let runs = zip(starts, starts.dropFirst() + [250_000]).map { start, end in
            SegmentTimeline.Run(
                start: shift + Double(start) / 44_100, duration: Double(end - start) / 44_100, count: 1)
        }
        return SegmentTimeline(firstIndex: first, runs: runs, isComplete: isComplete)
    }

    private func expectSeeks(_ decoder: any AudioDecoder) throws {
        for frame in [249_999, 0, 100_000, 23_040, 23_039, 23_041, 240_000, 1, 250_000, 5_000_000] {
            try decoder.seek(toFrame: Int64(frame))
            let expected = Self.signal.slice(min(frame, 250_000)..<min(250_000, frame + 30_000))
            #expect(try difference(decoder.decode(frames: 30_000), expected) == nil, "frame \(frame)")
        }
        #expect(decoder.damage.isEmpty)
    }

    @Test("Segments decode to the source, and seeks are exact", arguments: [0, 7], [0, 3])
    func decodes(first: Int, notYetEvery: Int) throws {
        let parts = try Self.parts()
        let segments = MemorySegments(
            parts.initialization, parts.segments, Self.timeline(first: first, shift: 100), notYetEvery: notYetEvery)
        let decoder = try AudioFile.open(segments)
        #expect(decoder.properties.container == .mp4 && decoder.properties.format == Self.signal.format)
        #expect(difference(decoder.decodeAll().samples, Self.signal.samples) == nil)
        #expect(decoder.damage.isEmpty)
        try expectSeeks(decoder)
    }

    @Test("A seek asks for the segment that the manifest names, and for no other")
    func seekBySegment() throws {
        let parts = try Self.parts()
        let segments = MemorySegments(parts.initialization, parts.segments, Self.timeline())
        let decoder = try AudioFile.open(segments)
        segments.forget()
        try decoder.seek(toFrame: Int64(Self.starts[8] + 100))
        let expected = Self.signal.slice((Self.starts[8] + 100)..<(Self.starts[8] + 1000))
        #expect(try difference(decoder.decode(frames: 900), expected) == nil)
        #expect(segments.asked == [8])
    }

    @Test(
        "Times that are not exact cost segments, not the position",
        arguments: [
            SegmentTimeline(runs: [], isComplete: true),
            SegmentTimeline(runs: [.init(start: 0, duration: 0.1, count: 12)], isComplete: true),
            SegmentTimeline(runs: [.init(start: 0, duration: 2, count: 12)], isComplete: true),
            SegmentTimeline(runs: [.init(start: 0, duration: 0, count: 12)], isComplete: true),
            SegmentTimeline(runs: [.init(start: .nan, duration: .infinity, count: .max)], isComplete: false),
            SegmentTimeline(
                runs: [.init(start: 0, duration: 0.3, count: 3), .init(start: 0.9, duration: 0.6, count: 8)],
                isComplete: false),
        ])
    func wrongTimes(timeline: SegmentTimeline) throws {
        let parts = try Self.parts()
        let decoder = try AudioFile.open(MemorySegments(parts.initialization, parts.segments, timeline))
        #expect(difference(decoder.decodeAll().samples, Self.signal.samples) == nil)
        try expectSeeks(decoder)
    }

    @Test("The length is that of the movie, or else that of the manifest")
    func length() throws {
        var parts = try Self.parts()
        let decoder = try AudioFile.open(MemorySegments(parts.initialization, parts.segments, Self.timeline()))
        #expect(decoder.properties.frameCount == 250_000)
        // Without the duration in the movie box.
        let place = try #require(Boxes.find(["moov", "mvex", "mehd"], in: parts.initialization).first)
        parts.initialization.replaceSubrange((place.lowerBound + 4)..<(place.lowerBound + 8), with: "free".utf8)
        let other = try AudioFile.open(MemorySegments(parts.initialization, parts.segments, Self.timeline()))
        #expect(other.properties.frameCount == 250_000)
        let live = try AudioFile.open(
            MemorySegments(parts.initialization, parts.segments, Self.timeline(isComplete: false)))
        #expect(live.properties.frameCount == nil)
    }

    @Test("Segments that initialise themselves")
    func selfInitialising() throws {
        let parts = try Self.parts()
        let segments = MemorySegments(nil, parts.segments.map { parts.initialization + $0 }, Self.timeline())
        let decoder = try AudioFile.open(segments)
        #expect(difference(decoder.decodeAll().samples, Self.signal.samples) == nil)
        try expectSeeks(decoder)
    }

    @Test("One segment may be a file of any kind")
    func oneFile() throws {
        let timeline = SegmentTimeline(runs: [], isComplete: true)
        let fragmented = try Self.signal.ffmpeg(MP4Tests.flac + MP4Tests.layouts[7], to: "file.mp4")
        for file in [try Self.signal.flac(), Self.signal.extensibleWAV, fragmented] {
            let decoder = try AudioFile.open(MemorySegments(nil, [file], timeline, notYetEvery: 3))
            #expect(difference(decoder.decodeAll().samples, Self.signal.samples) == nil)
            try decoder.seek(toFrame: 123_456)
            #expect(try difference(decoder.decode(frames: 500), Self.signal.slice(123_456..<123_956)) == nil)
        }
        #expect(throws: MediaError.empty) { try AudioFile.open(MemorySegments(nil, [], timeline)) }
        #expect(throws: MediaError.unsupported(what: "segments that are neither MP4, AAC nor MP3")) {
            try AudioFile.open(MemorySegments(nil, [try Self.signal.flac(), try Self.signal.flac()], timeline))
        }
    }

    @Test("MPEG-TS is refused by name: one segment, several, with an initialization, and a file")
    func transportStream() throws {
        let stream = try Self.signal.ffmpeg(["-c:a", "mp2", "-f", "mpegts"], to: "file.ts")
        let timeline = SegmentTimeline(runs: [], isComplete: true)
        #expect(throws: MediaError.unsupported(what: "segments of MPEG-TS")) {
            try AudioFile.open(MemorySegments(nil, [stream, stream], timeline, notYetEvery: 3))
        }
        #expect(throws: MediaError.unsupported(what: "segments of MPEG-TS")) {
            try AudioFile.open(MemorySegments(Array(stream[..<376]), [stream, stream], timeline))
        }
        let one = MediaError.notAudio(looksLike: "MPEG-TS")
        #expect(throws: one) { try AudioFile.open(MemorySegments(nil, [stream], timeline)) }
        #expect(throws: one) { try AudioFile.open(MemorySource(stream)) }
    }

    @Test("A missing segment is an error; when it arrives, playback continues")
    func failure() throws {
        let parts = try Self.parts()
        let segments = MemorySegments(parts.initialization, parts.segments, Self.timeline())
        segments.failures = [4: .status(403)]
        let decoder = try AudioFile.open(segments)
        let first = decoder.decodeAll()
        #expect(first.error == .source(.status(403)))
        #expect(difference(first.samples, Self.signal.slice(0..<(Self.starts[4]))) == nil)
        segments.failures = [:]
        #expect(difference(decoder.decodeAll().samples, Self.signal.slice((Self.starts[4])..<250_000)) == nil)
    }

    @Test("Segments that arrive late are waited for")
    func late() throws {
        let parts = try Self.parts()
        let segments = MemorySegments(parts.initialization, parts.segments, Self.timeline())
        for source in segments.sources { source.available = 0 }
        let opening = AudioOpening(segments)
        #expect(try opening.attempt() == nil)
        segments.sources[0].available = 1000
        let decoder = try #require(try opening.attempt())
        let buffer = UnsafeMutableBufferPointer<Int32>.allocate(capacity: 8192)
        defer { buffer.deallocate() }
        var samples: [Int32] = []
        var arrived = 0
        reading: while true {
            switch try decoder.read(into: buffer) {
            case .frames(let count): samples += buffer[..<(count * 2)]
            case .format: Issue.record("another format")
            case .notYet:
                guard arrived < 12 else { break reading }
                segments.sources[arrived].available = .max
                arrived += 1
            case .end: break reading
            }
        }
        #expect(arrived == 12)
        #expect(difference(samples, Self.signal.samples) == nil)
    }

    @Test("Timelines: starts, indices and durations")
    func timelines() {
        let timeline = SegmentTimeline(
            firstIndex: 5,
            runs: [.init(start: 10, duration: 2, count: 3), .init(start: 16, duration: 1.5, count: 2)], isComplete: true
        )
        #expect(timeline.count == 5 && timeline.duration == 9)
        #expect((4...10).map { timeline.start(of: $0) } == [nil, 10, 12, 14, 16, 17.5, nil])
        let indices = [-1, 10, 11.9, 12, 15.9, 16, 17.5, 18.9, 100, .nan, .infinity, -.infinity].map {
            timeline.index(at: $0)
        }
        #expect(indices == [5, 5, 5, 6, 7, 8, 9, 9, 9, 8, 9, 5])
        #expect(SegmentTimeline(runs: [], isComplete: true).index(at: 3) == nil)
    }
}
