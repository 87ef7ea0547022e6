import PCM
import Testing

@testable import Media

@Suite("PCM and MP3 in MP4 and QuickTime", Tool.needsFFmpeg)
struct MP4SoundTests {
    static let signals = [
        Signal(frames: 20_001), Signal(frames: 10_000, rate: 192_000, depth: 24, seed: 2),
        Signal(frames: 9000, rate: 48_000, channels: 1, depth: 24, seed: 3),
        Signal(frames: 5000, rate: 96_000, channels: 6, depth: 24, seed: 4), Signal(frames: 1, seed: 5),
    ]

    private func expect(_ signal: Signal, depth: Int, in bytes: [UInt8], _ comment: Comment) throws {
        let decoder = try AudioFile.open(MemorySource(bytes))
        var format = signal.format
        format.bitDepth = depth
        #expect(decoder.properties.format == format, comment)
        #expect(decoder.properties.container == .mp4 && decoder.properties.codec == .pcm, comment)
        #expect(decoder.properties.frameCount == Int64(signal.frameCount), comment)
        #expect(difference(decoder.decodeAll().samples, signal.samples) == nil, comment)
        let last = signal.frameCount - 1
        for frame in [last, 0, signal.frameCount / 2, 1023, 1024, 1, last + 1, 1 << 40] {
            try decoder.seek(toFrame: Int64(frame))
            let expected = signal.slice(min(frame, last + 1)..<min(frame + 1500, last + 1))
            #expect(try difference(decoder.decode(frames: 1500), expected) == nil, "\(comment), frame \(frame)")
        }
        #expect(decoder.damage.isEmpty, comment)
    }

    @Test(
        "ffmpeg's files of QuickTime",
        arguments: [
            ("pcm_s16le", 16), ("pcm_s16be", 16), ("pcm_s24le", 24), ("pcm_s24be", 24), ("pcm_s32le", 32),
            ("pcm_s32be", 32), ("pcm_f32le", 32), ("pcm_f32be", 32), ("pcm_f64le", 32), ("pcm_f64be", 32),
        ])
    func quickTime(codec: String, depth: Int) throws {
        for signal in Self.signals where signal.format.bitDepth <= depth {
            for layout in [["-movflags", "faststart"], ["-movflags", "empty_moov+frag_keyframe"]] {
                let bytes = try signal.ffmpeg(signal.monoFilter + ["-c:a", codec] + layout, to: "file.mov")
                let decoder = try AudioFile.open(MemorySource(bytes))
                let comment: Comment = "\(signal.format), \(layout)"
                if layout[1].contains("frag") {
                    #expect(difference(decoder.decodeAll().samples, signal.samples) == nil, comment)
                } else {
                    try expect(signal, depth: depth, in: bytes, comment)
                }
            }
        }
    }

    @Test("8 bits with a sign and without")
    func bytes() throws {
        let signal = Signal(frames: 10_001, depth: 8)
        for codec in ["pcm_u8", "pcm_s8"] {
            try expect(signal, depth: 8, in: try signal.ffmpeg(["-c:a", codec], to: "file.mov"), "\(codec)")
        }
    }

    @Test("A-law and mu-law, as ffmpeg decodes them", arguments: ["pcm_alaw", "pcm_mulaw"])
    func telephone(codec: String) throws {
        let signal = Signal(frames: 10_001, rate: 8000, channels: 1)
        let bytes = try signal.ffmpeg(["-c:a", codec], to: "file.mov")
        let decoder = try AudioFile.open(MemorySource(bytes))
        #expect(decoder.properties.codec == (codec == "pcm_alaw" ? .alaw : .ulaw))
        #expect(decoder.properties.frameCount == 10_001)
        #expect(difference(decoder.decodeAll().samples, try AACReference.decode(bytes, "file.mov")) == nil)
    }

    @Test("Descriptions of PCM by hand: ISO's, and Core Audio's flags")
    func descriptions() throws {
        struct Case {
            var type: String
            var boxes: [UInt8]
            var samples: [UInt8]
            var signal: Signal
            var depth: Int
            var linear: [UInt8] = []
        }
        func config(_ flags: Int, _ bits: Int) -> [UInt8] { Boxes.full("pcmC", [UInt8(flags), UInt8(bits)]) }
        func linear(_ signal: Signal, bits: Int, flags: Int, bytes: Int) -> [UInt8] {
            Boxes.big(72, 4) + Boxes.big(Int(Double(signal.format.sampleRate).bitPattern), 8)
                + Boxes.big(signal.format.channelCount, 4) + Boxes.big(0x7F00_0000, 4) + Boxes.big(bits, 4)
                + Boxes.big(flags, 4) + Boxes.big(bytes, 4) + Boxes.big(1, 4)
        }
        func float(_ signal: Signal, isBigEndian: Bool, is64: Bool) -> [UInt8] {
            signal.samples.flatMap { sample in
                let value = Double(sample) / 2_147_483_648
                let bytes =
                    is64
                    ? Boxes.big(Int(bitPattern: UInt(value.bitPattern)), 8) : Boxes.big(Int(Float(value).bitPattern), 4)
                return isBigEndian ? bytes : bytes.reversed()
            }
        }
        let cd = Signal(frames: 5000)
        let high = Signal(frames: 5000, rate: 96_000, depth: 24)
        let full = Signal(frames: 5000, depth: 32)
        let twenty = Signal(frames: 5000, depth: 20)
        let rate = Boxes.full("srat", Boxes.big(96_000, 4))
        let cases = [
            Case(type: "ipcm", boxes: config(1, 16), samples: cd.raw(byteCount: 2), signal: cd, depth: 16),
            Case(
                type: "ipcm", boxes: config(0, 16), samples: cd.raw(byteCount: 2, bigEndian: true), signal: cd,
                depth: 16
            ),
            Case(
                type: "ipcm", boxes: rate + config(0, 24), samples: high.raw(byteCount: 3, bigEndian: true),
                signal: high,
                depth: 24),
            Case(type: "ipcm", boxes: config(1, 32), samples: full.raw(byteCount: 4), signal: full, depth: 32),
            Case(
                type: "fpcm", boxes: config(1, 32), samples: float(cd, isBigEndian: false, is64: false), signal: cd,
                depth: 32),
            Case(
                type: "fpcm", boxes: config(0, 64), samples: float(full, isBigEndian: true, is64: true), signal: full,
                depth: 32),
            Case(
                type: "lpcm", boxes: [], samples: twenty.raw(byteCount: 3), signal: twenty, depth: 20,
                linear: linear(twenty, bits: 20, flags: 4 | 16, bytes: 6)),
            Case(
                type: "lpcm", boxes: [], samples: high.raw(byteCount: 4, bigEndian: true), signal: high, depth: 24,
                linear: linear(high, bits: 24, flags: 2 | 4 | 16, bytes: 8)),
        ]
        for (number, test) in cases.enumerated() {
            var entry = HandmadeMP4.audioEntry(test.type, test.linear + test.boxes)
            if !test.linear.isEmpty { entry[17] = 2 }
            // In packets of many frames, and one frame each.
            let size = test.samples.count / test.signal.frameCount
            for perPacket in [1000, 1] {
                let packets = stride(from: 0, to: test.samples.count, by: perPacket * size).map {
                    Array(test.samples[$0..<($0 + perPacket * size)])
                }
                let file = HandmadeMP4(
                    entry, packets: packets, durations: packets.map { _ in perPacket },
                    timescale: test.signal.format.sampleRate)
                try expect(test.signal, depth: test.depth, in: file.bytes, "case \(number), \(perPacket)")
            }
        }
    }

    @Test("Samples of one byte, as old files of QuickTime have them")
    func oldSizes() throws {
        let signal = Signal(frames: 5000)
        var bytes = try signal.ffmpeg(["-c:a", "pcm_s16le"], to: "file.mov")
        let sizes = try #require(Boxes.find(["moov", "trak", "mdia", "minf", "stbl", "stsz"], in: bytes).first)
        #expect(bytes[(sizes.lowerBound + 12)..<(sizes.lowerBound + 16)].elementsEqual([0, 0, 0, 4]))
        bytes[sizes.lowerBound + 15] = 1
        try expect(signal, depth: 16, in: bytes, "")
    }

    @Test("Files of QuickTime without a type")
    func untyped() throws {
        let signal = Signal(frames: 5000)
        let file = HandmadeMP4(
            HandmadeMP4.audioEntry("sowt", []), packets: [signal.raw(byteCount: 2)], durations: [5000])
        let type = try #require(Boxes.find(["ftyp"], in: file.bytes).first)
        for start in [[], Boxes.box("wide", [])] as [[UInt8]] {
            var bytes = start + file.bytes[type.upperBound...]
            let offsets = try #require(Boxes.find(["moov", "trak", "mdia", "minf", "stbl", "stco"], in: bytes).first)
            bytes.replaceSubrange(
                (offsets.upperBound - 4)..<offsets.upperBound, with: Boxes.big(start.count + 8, 4))
            let decoder = try AudioFile.open(MemorySource(bytes))
            #expect(difference(decoder.decodeAll().samples, signal.samples) == nil)
        }
    }

    @Test("PCM that cannot be says what is wrong")
    func unsupported() {
        let cases: [(String, [UInt8], Int, MediaError)] = [
            ("ipcm", [], 0, .damaged(what: "MP4 with PCM that is not described")),
            ("ipcm", Boxes.full("pcmC", [1, 12]), 0, .unsupported(what: "MP4 with PCM of 16 bits")),
            ("raw ", [], 0, .unsupported(what: "MP4 with PCM of 16 bits")),
            ("ima4", [], 0, .unsupported(what: "MP4 with IMA ADPCM")),
            (
                "lpcm",
                Boxes.big(72, 4) + Boxes.big(Int(44_100.0.bitPattern), 8) + Boxes.big(2, 4) + Boxes.big(0x7F00_0000, 4)
                    + Boxes.big(16, 4) + Boxes.big(4 | 32, 4) + Boxes.big(4, 4) + Boxes.big(1, 4), 2,
                .unsupported(what: "MP4 with PCM that has each channel apart")
            ),
        ]
        for (type, boxes, version, error) in cases {
            var entry = HandmadeMP4.audioEntry(type, boxes)
            entry[17] = UInt8(version)
            let file = HandmadeMP4(entry, packets: [[0, 0, 0, 0]], durations: [1])
            #expect(throws: error) { try AudioFile.open(MemorySource(file.bytes)) }
        }
    }

    @Test("PCM that is cut off plays to its last frame")
    func truncated() throws {
        let signal = Signal(frames: 50_000)
        let bytes = try signal.ffmpeg(["-c:a", "pcm_s16le", "-movflags", "faststart"], to: "file.mov")
        let data = try #require(Boxes.find(["mdat"], in: bytes).first)
        let cut = data.lowerBound + 8 + 4 * 30_001 + 3
        let (decoded, damage) = try decode(Array(bytes.prefix(cut)))
        #expect(difference(decoded.samples, signal.slice(0..<30_001)) == nil)
        #expect(damage.truncated)
    }

    @Test(
        "MP3: the samples of the same frames in a file of MP3, whole and from any frame",
        arguments: [(44_100, 2), (48_000, 1), (22_050, 2), (16_000, 1)])
    func mp3(format: (rate: Int, channels: Int)) throws {
        let signal = Signal(frames: 60_000, rate: format.rate, channels: format.channels).varied
        let rate = format.rate > 24_000 ? "128k" : "32k"
        for (options, name) in [
            (["-b:a", rate], "file.mp4"), (["-q:a", "4"], "file.mov"), (["-b:a", rate, "-reservoir", "0"], "file.mp4"),
        ] {
            let encoder = signal.monoFilter + ["-c:a", "libmp3lame", "-write_xing", "0"] + options
            let elementary = try decode(try signal.ffmpeg(encoder, to: "file.mp3")).decoded.samples
            let bytes = try signal.ffmpeg(signal.monoFilter + ["-c:a", "libmp3lame"] + options, to: name)
            let decoder = try AudioFile.open(MemorySource(bytes))
            #expect(decoder.properties.container == .mp4 && decoder.properties.codec == .mp3)
            #expect(
                decoder.properties.format
                    == PCMFormat(sampleRate: format.rate, channelCount: format.channels, bitDepth: 24))
            let samples = decoder.decodeAll().samples
            // The encoder's delay and that of the decoder.
            let expected = Array(elementary[(1105 * format.channels)...].prefix(samples.count))
            #expect(difference(samples, expected) == nil, "\(options)")
            #expect(samples.count == 60_000 * format.channels && decoder.properties.frameCount == 60_000, "\(options)")
            #expect(decoder.damage.isEmpty)
            for frame in [59_999, 47, 20_000, 51_777, 60_000, 1 << 40] {
                try decoder.seek(toFrame: Int64(frame))
                let part = Array(samples[(min(frame, 60_000) * format.channels)...].prefix(1500 * format.channels))
                #expect(try difference(decoder.decode(frames: 1500), part) == nil, "\(options), frame \(frame)")
            }
        }
    }

    @Test("MP2 in MP4 is named so, and a damaged frame is silence")
    func otherLayers() throws {
        let signal = Signal(frames: 30_000)
        let bytes = try signal.ffmpeg(["-c:a", "mp2", "-b:a", "128k"], to: "file.mp4")
        let decoder = try AudioFile.open(MemorySource(bytes))
        #expect(decoder.properties.codec == .mp2)
        let samples = decoder.decodeAll().samples
        #expect(samples.count >= 2 * 30_000 && decoder.damage.isEmpty)
        var broken = bytes
        let data = try #require(Boxes.find(["mdat"], in: bytes).first)
        broken[data.lowerBound + 8 + 418 * 5] = 0
        let (decoded, damage) = try decode(broken)
        #expect(decoded.samples.count == samples.count && damage.incidents == 1)
    }
}
