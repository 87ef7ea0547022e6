import Testing

@testable import Media

@Suite("Packed MP3 in segments (RFC 8216, 3.4)", Tool.needsLAME, Tool.needsFFmpeg)
struct MP3SegmentTests {
    private struct Stream {
        /// The frames of all segments.
        var whole: [UInt8]
        var segments: [[UInt8]]
        var timeline: SegmentTimeline
    }

    /// Segments of so many frames of MPEG, each after a tag with its time.
    private static func stream(
        frames: Int = 300_000, perSegment: Int = 20, _ options: [String] = ["-b", "96"], firstTime: Int = 900_000
    ) throws -> Stream {
        let signal = Signal(frames: frames)
        let map = try MP3Map(try signal.lame(options))
        var stream = Stream(whole: [], segments: [], timeline: SegmentTimeline(runs: [], isComplete: true))
        for start in stride(from: 0, to: map.count, by: perSegment) {
            let frames = map.frames(start..<min(start + perSegment, map.count))
            stream.whole += frames
            stream.segments.append(tag((firstTime + start * 1152 * 90_000 / 44_100) & 0x1_FFFF_FFFF) + frames)
        }
        let seconds = Double(perSegment) * 1152 / 44_100
        stream.timeline = SegmentTimeline(
            runs: [.init(start: 0, duration: seconds, count: stream.segments.count)], isComplete: true)
        return stream
    }

    private static func tag(_ time: Int) -> [UInt8] {
        let content = Array("com.apple.streaming.transportStreamTimestamp\0".utf8) + Boxes.big(time, 8)
        let frame = Array("PRIV".utf8) + Boxes.big(content.count, 4) + [0, 0] + content
        return Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, UInt8(frame.count)] + frame
    }

    @Test(
        "The samples are those of the frames in one file, also after seeks",
        arguments: [["-b", "96"], ["-V", "4"], ["-b", "32", "-m", "m"]], [900_000, 0x1_FFFC_0000])
    func plays(options: [String], firstTime: Int) throws {
        let stream = try Self.stream(options, firstTime: firstTime)
        let expected = try decode(stream.whole).decoded.samples
        let segments = MemorySegments(nil, stream.segments, stream.timeline, notYetEvery: 7)
        let decoder = try AudioFile.open(segments)
        let channels = decoder.properties.format.channelCount
        #expect(decoder.properties.container == .mp3 && decoder.properties.codec == .mp3)
        #expect(difference(decoder.decodeAll().samples, expected) == nil)
        #expect(decoder.damage.isEmpty)
        let length = try #require(decoder.properties.frameCount)
        #expect(abs(length - Int64(expected.count / channels)) < 20 * 1152)
        let fresh = try AudioFile.open(MemorySegments(nil, stream.segments, stream.timeline))
        for frame in [290_000, 0, 123_456, 250_000, 23_040, 23_039, 1151] {
            let end = min(expected.count / channels, frame + 5000)
            for decoder in [fresh, decoder] {
                try decoder.seek(toFrame: Int64(frame))
                let found = try decoder.decode(frames: 5000)
                #expect(difference(found, Array(expected[(frame * channels)..<(end * channels)])) == nil, "\(frame)")
            }
        }
    }

    @Test("A seek asks for the segments that it needs, not for all before")
    func seek() throws {
        let stream = try Self.stream()
        let segments = MemorySegments(nil, stream.segments, stream.timeline)
        let decoder = try AudioFile.open(segments)
        segments.forget()
        try decoder.seek(toFrame: 250_000)
        _ = try decoder.decode(frames: 100)
        #expect(!segments.asked.isEmpty && segments.asked.allSatisfy { $0 >= 7 }, "\(segments.asked)")
    }

    @Test("Segments without tags play, and seek by reading")
    func untagged() throws {
        let stream = try Self.stream()
        let plain = stream.segments.map { Array($0.dropFirst(10 + Int($0[9]))) }
        let expected = try decode(stream.whole).decoded.samples
        let decoder = try AudioFile.open(MemorySegments(nil, plain, stream.timeline))
        try decoder.seek(toFrame: 200_000)
        #expect(try difference(decoder.decode(frames: 5000), Array(expected[400_000..<410_000])) == nil)
        try decoder.seek(toFrame: 0)
        #expect(difference(decoder.decodeAll().samples, expected) == nil)
    }

    @Test("Something else in place of a segment is an error of the source, and so is a segment that is cut off")
    func unusable() throws {
        let stream = try Self.stream(frames: 100_000)
        for bad in [Array("<html>no</html>".utf8), Array(stream.segments[2].dropLast(100))] {
            var segments = stream.segments
            segments[2] = bad
            let decoded = try AudioFile.open(MemorySegments(nil, segments, stream.timeline)).decodeAll()
            #expect(
                decoded.error == .source(.integrity(reason: "a segment is cut off, or is not MP3")),
                "\(decoded.samples.count)")
            #expect(decoded.samples.count >= 2 * 2 * 20 * 1152)
        }
    }

    @Test("One segment is a file, with its header and its trim")
    func single() throws {
        let bytes = try Signal(frames: 9001).lame(["-b", "96"])
        let timeline = SegmentTimeline(runs: [.init(start: 0, duration: 1, count: 1)], isComplete: true)
        let decoder = try AudioFile.open(MemorySegments(nil, [bytes], timeline))
        #expect(decoder.decodeAll().samples.count == 2 * 9001)
    }
}
