import PCM
import TestSupport
import Testing

@testable import Media

@Suite("Opus in MP4", Tool.needsOpusTools, Tool.needsFFmpeg)
struct MP4OpusTests {
    /// An odd number of frames at 48 kHz.
    private static let frameCount = 90_001

    private static let files = MadeOnce<[UInt8]>()

    private static func ogg(channels: Int = 2, frameSize: String = "20") throws -> [UInt8] {
        try files.value("\(channels) \(frameSize)") {
            let signal = Signal.music(frames: frameCount, channels: channels)
            return try signal.opusenc(["--bitrate", "\(48 * channels)", "--framesize", frameSize])
        }
    }

    private static let layouts = [
        [], ["-movflags", "frag_keyframe+empty_moov+default_base_moof", "-frag_duration", "500000"],
        ["-movflags", "frag_keyframe+delay_moov", "-frag_duration", "300000"],
        ["-movflags", "cmaf+frag_keyframe", "-frag_duration", "500000"],
    ]

    @Test("The samples are those of the packets in Ogg, also after seeks", arguments: layouts)
    func plays(layout: [String]) throws {
        for (channels, frameSize) in [(2, "20"), (2, "2.5"), (1, "60"), (6, "20")].prefix(layout.isEmpty ? 4 : 2) {
            let ogg = try Self.ogg(channels: channels, frameSize: frameSize)
            let whole = try decode(ogg).decoded.samples
            #expect(whole.count == Self.frameCount * channels)
            let bytes = try Remuxing.ffmpeg(ogg, "file.opus", layout, to: "file.mp4")
            let decoder = try AudioFile.open(MemorySource(bytes))
            #expect(decoder.properties.container == .mp4 && decoder.properties.codec == .opus)
            #expect(decoder.properties.format == PCMFormat(sampleRate: 48_000, channelCount: channels, bitDepth: 24))
            if layout.isEmpty { #expect(decoder.properties.frameCount == Int64(Self.frameCount)) }
            let samples = decoder.decodeAll().samples
            // ffmpeg writes the length of the last packet only where it ends the file.
            let end = layout.isEmpty ? whole.count : min(whole.count, samples.count)
            let problem = difference(Array(samples.prefix(end)), Array(whole.prefix(end)))
            #expect(problem == nil, "\(channels) channels, \(frameSize) ms")
            #expect(samples.count - whole.count <= 2880 * channels && samples.count >= whole.count)
            for frame in [89_000, 0, 311, 61_752, 75_000] {
                try decoder.seek(toFrame: Int64(frame))
                let expected = Array(whole[(frame * channels)...].prefix(1000 * channels))
                #expect(try difference(decoder.decode(frames: 1000), expected) == nil, "\(channels), frame \(frame)")
            }
            #expect(decoder.damage.isEmpty)
        }
    }

    @Test("Durations that vary around the length of packets cut nothing in the middle")
    func jitter() throws {
        let ogg = try Self.ogg()
        let whole = try decode(ogg).decoded.samples
        let filter = "setts=pts='PTS+5*mod(N,2)':dts='DTS+5*mod(N,2)'"
        let bytes = try Remuxing.ffmpeg(ogg, "file.opus", ["-bsf:a", filter], to: "file.mp4")
        let samples = try decode(bytes).decoded.samples
        #expect(abs(samples.count - whole.count) <= 20)
        let end = min(samples.count, whole.count)
        #expect(difference(Array(samples.prefix(end)), Array(whole.prefix(end))) == nil)
    }

    @Test("An edit list says where the sound begins and ends, not the pre-skip")
    func edits() throws {
        let ogg = try Self.ogg()
        let whole = try decode(ogg).decoded.samples
        var bytes = try Remuxing.ffmpeg(ogg, "file.opus", to: "file.mp4")
        let list = try #require(Boxes.find(["moov", "trak", "edts", "elst"], in: bytes).first)
        // One edit of version 0, of half a second from the frame 60,000 on.
        try #require(bytes[list.lowerBound + 8] == 0 && bytes[list.lowerBound + 15] == 1)
        bytes.replaceSubrange((list.lowerBound + 16)..<(list.lowerBound + 20), with: Boxes.big(500, 4))
        bytes.replaceSubrange((list.lowerBound + 20)..<(list.lowerBound + 24), with: Boxes.big(60_312, 4))
        let decoder = try AudioFile.open(MemorySource(bytes))
        #expect(decoder.properties.frameCount == 24_000)
        #expect(difference(decoder.decodeAll().samples, Array(whole[120_000..<168_000])) == nil)
    }

    @Test("Segments play, also from a later one")
    func segments() throws {
        let ogg = try Self.ogg()
        let whole = try decode(ogg).decoded.samples
        let bytes = try Remuxing.ffmpeg(ogg, "file.opus", Self.layouts[1], to: "file.mp4")
        let starts = Boxes.find(["moof"], in: bytes).map(\.lowerBound)
        try #require(starts.count == 4)
        let end = Boxes.find(["mfra"], in: bytes).first?.lowerBound ?? bytes.count
        let segments = zip(starts, starts.dropFirst() + [end]).map { Array(bytes[$0..<$1]) }
        let timeline = SegmentTimeline(runs: [.init(start: 0, duration: 0.5, count: 4)], isComplete: true)
        for first in [0, 3] {
            let source = MemorySegments(Array(bytes[..<starts[0]]), segments, timeline, notYetEvery: 5)
            let decoder = try AudioFile.open(source)
            if first > 0 { try decoder.seek(toFrame: 72_000) }
            let expected = first > 0 ? Array(whole[144_000...]) : whole
            #expect(difference(Array(decoder.decodeAll().samples.prefix(expected.count)), expected) == nil)
            #expect(decoder.damage.isEmpty)
        }
    }

    @Test("The box has the fields of Ogg's header, with the highest byte first")
    func header() throws {
        let fields: [UInt8] = [0, 3, 0x01, 0x38, 0, 0, 0xBB, 0x80, 0xFE, 0x40, 1, 2, 1, 0, 2, 1]
        let head = try OpusHead(box: fields)
        #expect(head.preSkip == 312 && head.gain == -448 && head.format.channelCount == 3)
        #expect(head.streamCount == 2 && head.coupledCount == 1 && head.mapping == [0, 2, 1])
        #expect(throws: Interruption.unsupported(what: "MP4 with Opus of version 1")) {
            try OpusHead(box: [1] + fields.dropFirst())
        }
        for count in 0..<fields.count {
            #expect(throws: Interruption.self) { try OpusHead(box: Array(fields.prefix(count))) }
        }
    }

    @Test("A damaged packet is silence of its length")
    func damage() throws {
        let ogg = try Self.ogg()
        let whole = try decode(ogg).decoded.samples
        var bytes = try Remuxing.ffmpeg(ogg, "file.opus", ["-movflags", "frag_every_frame+delay_moov"], to: "file.mp4")
        let packet = try #require(Boxes.find(["mdat"], in: bytes).dropFirst(50).first)
        // A code for many frames, and none of them.
        bytes[packet.lowerBound + 8] |= 3
        bytes[packet.lowerBound + 9] = 0
        let (decoded, damage) = try decode(bytes)
        #expect(damage.incidents == 1 && damage.silencedFrames == 960)
        #expect(difference(Array(decoded.samples.prefix(90_000)), Array(whole.prefix(90_000))) == nil)
        #expect(decoded.samples.count >= whole.count)
    }
}
