import PCM
import Testing

@testable import Media

@Suite("ALAC", Tool.needsFFmpeg)
struct ALACTests {
    static let encoder = ["-c:a", "alac"]

    static let signals = [
        Signal(frames: 20_001), Signal(frames: 4096, channels: 1, seed: 2), Signal(frames: 1, seed: 3),
        Signal(frames: 10_000, rate: 48_000, channels: 1, depth: 24, seed: 4),
        Signal(frames: 9000, rate: 96_000, depth: 24, seed: 5), Signal(frames: 8193, rate: 88_200, seed: 6),
        Signal(frames: 9000, rate: 192_000, depth: 24, seed: 7), Signal(frames: 5000, rate: 8000, seed: 8),
        Signal([Int32](repeating: 0, count: 20_000), PCMFormat(sampleRate: 44_100, channelCount: 2, bitDepth: 16)),
    ]

    /// Decodes to the signal, whole and from any frame.
    private func expect(
        _ samples: [Int32], _ format: PCMFormat, in bytes: [UInt8], knowsLength: Bool = true, _ comment: Comment = ""
    ) throws {
        let decoder = try AudioFile.open(MemorySource(bytes))
        #expect(decoder.properties.format == format, comment)
        #expect(decoder.properties.container == .mp4 && decoder.properties.codec == .alac, comment)
        let channels = format.channelCount
        let count = samples.count / channels
        if knowsLength { #expect(decoder.properties.frameCount == Int64(count), comment) }
        #expect(difference(decoder.decodeAll().samples, samples) == nil, comment)
        for frame in [count - 1, 0, count / 2, 4095, 4096, 4097, 1, count, count / 3, 1 << 40] {
            try decoder.seek(toFrame: Int64(frame))
            let expected = Array(samples[(min(frame, count) * channels)...].prefix(1500 * channels))
            #expect(try difference(decoder.decode(frames: 1500), expected) == nil, "\(comment), frame \(frame)")
        }
        #expect(decoder.damage.isEmpty, comment)
    }

    @Test(
        "ffmpeg's encoder in every layout: the source's samples",
        arguments: [(0, "file.m4a"), (1, "file.m4a"), (1, "file.mov"), (3, "file.m4a"), (7, "file.mp4")])
    func everyLayout(layout: Int, name: String) throws {
        for signal in layout == 1 ? Self.signals : Array(Self.signals[..<4]) {
            let bytes = try signal.ffmpeg(signal.monoFilter + Self.encoder + MP4Tests.layouts[layout], to: name)
            try expect(
                signal.samples, signal.format, in: bytes, knowsLength: layout < 2, "\(signal.format), \(name)")
        }
    }

    @Test(
        "ffmpeg's encoder with every order of its filter",
        arguments: [1, 2, 3, 4, 5, 6, 7, 8, 16, 30])
    func orders(order: Int) throws {
        let options = ["-min_prediction_order", "\(order)", "-max_prediction_order", "\(order)"]
        for signal in [Signal(frames: 5001), Signal(frames: 5001, rate: 96_000, depth: 24, seed: 5)] {
            let bytes = try signal.ffmpeg(signal.monoFilter + Self.encoder + options, to: "file.m4a")
            #expect(try difference(decode(bytes).decoded.samples, signal.samples) == nil)
        }
    }

    @Test("ffmpeg's encoder without compression, and with little", arguments: [0, 1])
    func levels(level: Int) throws {
        let signal = Self.signals[5]
        let bytes = try signal.ffmpeg(Self.encoder + ["-compression_level", "\(level)"], to: "file.m4a")
        try expect(signal.samples, signal.format, in: bytes)
    }

    @Test(
        "Channels come in the order of WAV",
        arguments: [
            (3, "3.0", [0, 1, 2]), (5, "5.0", [0, 1, 2, 3, 4]), (6, "5.1", [0, 1, 2, 3, 4, 5]),
            // In ffmpeg's own order the back channel comes last.
            (7, "6.1(back)", [0, 1, 2, 3, 6, 4, 5]), (8, "7.1(wide)", [0, 1, 2, 3, 4, 5, 6, 7]),
        ] as [(Int, String, [Int])])
    func channels(count: Int, layout: String, order: [Int]) throws {
        for depth in [16, 24] {
            let signal = Signal(frames: 5000, rate: 48_000, channels: count, depth: depth, seed: 9)
            let places = (0..<count).map { "\($0)" }.joined(separator: "|")
            let bytes = try signal.ffmpeg(
                ["-af", "channelmap=map=\(places):channel_layout=\(layout)"] + Self.encoder, to: "file.m4a")
            let expected = (0..<signal.samples.count).map { place in
                signal.samples[place / count * count + order[place % count]]
            }
            try expect(expected, signal.format, in: bytes)
        }
    }

    @Test("Ways of coding that ffmpeg's encoder does not use, as ffmpeg's decoder reads them")
    func otherCoding() throws {
        var writers = [ALACWriter(), ALACWriter(isTwice: true), ALACWriter(isVerbatim: true)]
        writers += [0, 1, 4, 5, 8, 17, 31].map { ALACWriter(order: $0) }
        writers += [
            ALACWriter(frameCount: 1000, fractionBits: 4, mixBits: 0, mixWeight: 1),
            ALACWriter(mixBits: 5, mixWeight: 0, hasOtherElements: true),
            ALACWriter(firstMean: 0, meanFactor: 255, mostBits: 1), ALACWriter(mostBits: 31),
            ALACWriter(frameCount: 65_536, order: 2, firstMean: 255, meanFactor: 1),
        ]
        for depth in [16, 20, 24, 32] {
            for channels in [1, 2] {
                let noise = Signal(frames: 4500, channels: channels, depth: depth, seed: UInt64(depth))
                // With quiet passages and silence, for the runs of zeros.
                let varied = noise.samples.enumerated().map { index, sample in
                    let quiet = sample >> Int32(index / channels / 750 % 4 * 9)
                    return index / channels % 1500 < 350 ? 0 : quiet & ~(1 << Int32(32 - depth) - 1)
                }
                let signal = Signal(varied, noise.format)
                for (number, writer) in writers.enumerated() {
                    var writer = writer
                    for shifted in number > 4 ? [depth > 24 ? 16 : 0] : [0, 8, 16]
                    where depth - shifted + channels - 1 <= 32 && shifted < depth {
                        writer.shiftedBits = shifted
                        let comment: Comment =
                            "\(depth) bits, \(channels) channels, writer \(number), \(shifted) shifted"
                        let bytes = writer.file(signal).bytes
                        let decoded = try decode(bytes)
                        #expect(difference(decoded.decoded.samples, signal.samples) == nil, comment)
                        #expect(decoded.damage.isEmpty, comment)
                        // ffmpeg's decoder has its own limits. A run of zeros after a mean of 0 is shorter. It refuses
                        // elements without sound, and packets of that size.
                        guard channels == 2, shifted == (depth == 32 ? 16 : 0), writer.frameCount <= 4096,
                            writer.firstMean > 0, !writer.hasOtherElements, !writer.isVerbatim || depth < 32,
                            number < 4 || depth == 20
                        else { continue }
                        let reference = try AACReference.decode(bytes, "file.m4a")
                        #expect(difference(reference, signal.samples) == nil, comment)
                    }
                }
            }
        }
    }

    @Test("The description inside of QuickTime's box `wave`")
    func wave() throws {
        let signal = Signal(frames: 10_000)
        let writer = ALACWriter()
        var file = writer.file(signal)
        let cookie = Boxes.full("alac", ALACWriter.cookie(signal.format))
        let wave = Boxes.box("wave", Boxes.box("frma", Array("alac".utf8)) + cookie + Boxes.box("\0\0\0\0", []))
        var entry = HandmadeMP4.audioEntry("alac", [UInt8](repeating: 0, count: 16) + wave)
        // Version 1.
        entry[17] = 1
        file.sampleEntry = entry
        try expect(signal.samples, signal.format, in: file.bytes)
    }

    @Test("Descriptions that cannot be say what is wrong")
    func descriptions() throws {
        let format = PCMFormat(sampleRate: 44_100, channelCount: 2, bitDepth: 16)
        func cookie(_ change: (inout PCMFormat) -> Void) -> [UInt8] {
            var format = format
            change(&format)
            return ALACWriter.cookie(format)
        }
        let cases: [([UInt8], MediaError)] = [
            (cookie { $0.bitDepth = 12 }, .unsupported(what: "ALAC with 12 bits per sample")),
            (cookie { $0.channelCount = 9 }, .unsupported(what: "ALAC with 9 channels")),
            (cookie { $0.channelCount = 0 }, .unsupported(what: "ALAC with 0 channels")),
            (
                cookie { $0.channelCount = 4 },
                .unsupported(what: "ALAC with three channels in front and one behind")
            ),
            (cookie { $0.sampleRate = 0 }, .damaged(what: "ALAC with a sample rate of 0 Hz")),
            (ALACWriter.cookie(format, version: 1), .unsupported(what: "ALAC of version 1")),
            (ALACWriter.cookie(format, frames: 0), .damaged(what: "ALAC with an impossible description")),
            (ALACWriter.cookie(format, frames: 65_537), .unsupported(what: "ALAC with 65537 frames a packet")),
            (
                Array(ALACWriter.cookie(format).dropLast()),
                .damaged(what: "ALAC with a description that is cut off")
            ),
        ]
        for (cookie, error) in cases {
            var file = ALACWriter().file(Signal(frames: 100))
            file.sampleEntry = HandmadeMP4.audioEntry("alac", Boxes.full("alac", cookie))
            #expect(throws: error) { try AudioFile.open(MemorySource(file.bytes)) }
        }
        var file = ALACWriter().file(Signal(frames: 100))
        file.sampleEntry = HandmadeMP4.audioEntry("alac", [])
        #expect(throws: MediaError.damaged(what: "MP4 with ALAC that is not described")) {
            try AudioFile.open(MemorySource(file.bytes))
        }
    }

    @Test("A damaged packet is silence for its length, and the others play")
    func damage() throws {
        let signal = Signal(frames: 8000)
        let writer = ALACWriter(frameCount: 1000)
        let good = writer.packet(signal.slice(3000..<4000), signal.format)
        let broken: [[UInt8]] = [
            [], [0], Array(good.prefix(1)), Array(good.prefix(20)), Array(good.prefix(good.count / 2)),
            [UInt8](repeating: 0xFF, count: 100), [UInt8](repeating: 0, count: 100), [0x55] + good,
            // A pair of 1001 frames; of none.
            [0x20, 0, 0x10, 0, 0, 3, 0xE9 << 1] + good, [0x20, 0, 0x10, 0, 0, 0, 0] + good,
            // Three bytes shifted.
            [0x20, 0, 0x0C] + good, Array(good.dropLast(good.count / 3)),
        ]
        var silenced = signal.samples
        silenced.replaceSubrange(6000..<8000, with: repeatElement(0, count: 2000))
        for (number, packet) in broken.enumerated() {
            var file = writer.file(signal)
            file.packets[3] = packet
            let decoded = try decode(file.bytes)
            #expect(difference(decoded.decoded.samples, silenced) == nil, "packet \(number)")
            #expect(decoded.damage.incidents == 1 && decoded.damage.silencedFrames == 1000, "packet \(number)")
        }
    }

    @Test("Flipped bits: no packet but the damaged one is touched")
    func flippedBits() throws {
        let signal = Signal(frames: 9000)
        let file = try signal.ffmpeg(signal.monoFilter + Self.encoder + ["-movflags", "faststart"], to: "file.m4a")
        let data = try #require(Boxes.find(["mdat"], in: file).first)
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<60 {
            var bytes = file
            bytes[Int.random(in: (data.lowerBound + 8)..<data.upperBound, using: &generator)] ^=
                1 << UInt8.random(in: 0..<8, using: &generator)
            let samples = try decode(bytes).decoded.samples
            let packets = Set(
                zip(samples, signal.samples).enumerated().filter { $1.0 != $1.1 }.map { $0.offset / 8192 })
            #expect(packets.count <= 1)
        }
    }

    @Test("Cut off files play up to the cut, and say so")
    func truncated() throws {
        let signal = Signal(frames: 20_000)
        let bytes = try signal.ffmpeg(signal.monoFilter + Self.encoder + ["-movflags", "faststart"], to: "file.m4a")
        let (decoded, damage) = try decode(Array(bytes.prefix(bytes.count / 2)))
        #expect(decoded.error == nil && damage.truncated)
        #expect(
            decoded.samples.count > 2 * 6000
                && decoded.samples.elementsEqual(signal.samples.prefix(decoded.samples.count)))
    }
}
