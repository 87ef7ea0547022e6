import PCM
import Testing

@testable import Media

@Suite("MP4 with boxes that packagers seldom write", Tool.needsFLAC)
struct MP4BoxTests {
    static let signal = Signal(frames: 10_500)

    static func file() throws -> HandmadeMP4 {
        HandmadeMP4(try FrameMap(try signal.flac(["-b1000", "--no-padding"])), blockSize: 1000, total: 10_500)
    }

    private func decodes(_ file: HandmadeMP4, to expected: [Int32]) throws {
        let decoder = try AudioFile.open(MemorySource(file.bytes))
        #expect(decoder.properties.frameCount == Int64(expected.count / 2))
        #expect(difference(decoder.decodeAll().samples, expected) == nil)
        for frame in [9999, 0, 3000, 2999, 10_499, 10_500] where frame <= expected.count / 2 {
            try decoder.seek(toFrame: Int64(frame))
            let part = Array(expected[(2 * frame)...].prefix(2400))
            #expect(try difference(decoder.decode(frames: 1200), part) == nil, "frame \(frame)")
        }
        #expect(decoder.damage.isEmpty)
    }

    @Test("Sizes of 64 bits, offsets of 64 bits, sizes of samples in 16 bits, any chunks")
    func tables() throws {
        try decodes(Self.file(), to: Self.signal.samples)
        for chunkSizes in [[1, 10], [3, 3, 5], [11], [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]] {
            for usesLongOffsets in [false, true] {
                var file = try Self.file()
                file.chunkSizes = chunkSizes
                file.usesLongOffsets = usesLongOffsets
                file.hasLongData = usesLongOffsets
                file.compactBits = usesLongOffsets ? 16 : nil
                try decodes(file, to: Self.signal.samples)
            }
        }
    }

    @Test("Sizes of samples in 8 and 4 bits")
    func compactSizes() throws {
        for bits in [8, 4] {
            let nibbles: [UInt8] = [11, 3, 15, 1, 7]
            let content = bits == 8 ? nibbles : [0xB3, 0xF1, 0x70]
            let box = Boxes.full("stz2", Boxes.big(bits, 4) + Boxes.big(5, 4) + content)
            let source = MemorySource(box)
            var boxes = MP4Boxes(source, from: 0, to: Int64(box.count))
            var sizes = try MP4SampleSizes(try #require(try boxes.next()), of: source)
            #expect(sizes.count == 5)
            for (index, size) in nibbles.enumerated() { #expect(try sizes.size(of: Int64(index)) == Int64(size)) }
            #expect(try sizes.size(of: 5) == nil && sizes.sum(of: 1..<4) == 19)
        }
    }

    @Test("Edit lists: a start, an end, silence, several parts, and units that are coarse")
    func editLists() throws {
        let samples = Self.signal.samples
        let silence = [Int32](repeating: 0, count: 2 * 4410)
        func slice(_ range: Range<Int>) -> [Int32] { Self.signal.slice(range) }
        // Durations in milliseconds.
        let cases: [([(Int, Int)], [Int32])] = [
            ([(0, 0)], samples), ([(1000, 0)], samples), ([(238, 0)], samples), ([(239, 0)], samples),
            ([(100, 0)], slice(0..<4410)), ([(100, 1)], slice(1..<4411)), ([(0, 1234)], slice(1234..<10_500)),
            ([(10, 10_499)], slice(10_499..<10_500)), ([(10, 10_500)], []), ([(10, 999_999)], []),
            ([(100, -1), (0, 0)], silence + samples), ([(100, -1), (10, 2000)], silence + slice(2000..<2441)),
            ([(10, 2000), (100, -1), (10, 500)], slice(2000..<2441) + silence + slice(500..<941)),
            ([(10, 0), (10, 441), (10, 882)], slice(0..<1323)),
            ([(10, 9000), (10, 1000)], slice(9000..<9441) + slice(1000..<1441)),
        ]
        for (edits, expected) in cases {
            var file = try Self.file()
            file.editList = HandmadeMP4.edits(edits.map { (duration: $0.0, mediaTime: $0.1) })
            try decodes(file, to: expected)
        }
        var fine = try Self.file()
        fine.movieTimescale = 44_100
        fine.editList = HandmadeMP4.edits([(duration: 9000, mediaTime: 777)])
        try decodes(fine, to: slice(777..<9777))
    }

    @Test("An edit list of 64 parts is played, a longer one is refused")
    func longEditLists() throws {
        func edits(_ count: Int) throws -> [UInt8] {
            var file = try Self.file()
            file.editList = HandmadeMP4.edits((0..<count).map { (duration: 10, mediaTime: 1000 - 2 * $0) })
            return file.bytes
        }
        let decoder = try AudioFile.open(MemorySource(try edits(64)))
        let expected = (0..<64).flatMap { Self.signal.slice((1000 - 2 * $0)..<(1441 - 2 * $0)) }
        #expect(difference(decoder.decodeAll().samples, expected) == nil)
        let longer = try edits(65)
        #expect(throws: MediaError.unsupported(what: "MP4 with 65 edits")) { try AudioFile.open(MemorySource(longer)) }
    }

    @Test("Times in units of any 32 bits are scaled exactly")
    func scaledTimes() {
        let largest: Int64 = 0xFFFF_FFFF
        #expect(MP4Time.scale(largest - 1, largest - 1, largest, rounding: 0) == largest - 2)
        // Small ones too.
        func number() -> Int64 { max(1, Int64(UInt32.random(in: 0...(.max)) >> UInt32.random(in: 0..<32))) }
        for _ in 0..<10_000 {
            let (value, numerator, denominator) = (number() * (number() >> 8), number(), number())
            let product = value.multipliedFullWidth(by: numerator)
            let (sum, carry) = product.low.addingReportingOverflow(UInt64(denominator / 2))
            let high = product.high + (carry ? 1 : 0)
            guard high < denominator / 8 else { continue }
            let expected = denominator.dividingFullWidth((high, sum)).quotient
            let scaled = MP4Time.scale(value, numerator, denominator, rounding: denominator / 2)
            #expect(scaled == min(expected, 1 << 60), "\(value) * \(numerator) / \(denominator)")
        }
    }

    @Test("Samples that overlap, have no bytes or go back too often end the reading")
    func overlap() {
        func admitted(_ samples: [(offset: Int64, size: Int64)], length: Int64? = nil) -> Int {
            var check = MP4OverlapCheck(length: length)
            for (index, sample) in samples.enumerated() {
                let sample = MP4Sample(offset: sample.offset, size: sample.size, time: 0, duration: 0)
                guard check.admits(sample) else { return index }
                check.count(sample)
            }
            return samples.count
        }
        #expect(admitted((0..<1000).map { ($0 * 10, 10) }) == 1000)
        // The samples of two tracks in turn, and one sample in the wrong order in the middle.
        #expect(admitted((0..<1000).map { ($0 * 30, 10) }) == 1000)
        #expect(admitted([(0, 100), (100, 100), (300, 100), (200, 100), (400, 100)]) == 5)
        #expect(admitted([(0, 100), (0, 100)]) == 1)
        #expect(admitted([(1 << 40, 0), (1 << 40, 0)]) == 0)
        #expect(admitted([(1000, 100)] + Array(repeating: (1 << 40, 0), count: 5000)) == 1001)
        #expect(admitted((0..<1000).map { ($0 * 10, 10) }, length: 5000) == 500)
        #expect(admitted([(0, 10)] + (0..<1000).map { (10 + $0 * 7, 7) }, length: 5000) == 713)
        #expect(admitted((0..<100_000).map { (4990 + $0, 1) }, length: 5000) == 5000)
        #expect((5..<200).contains(admitted((0..<1000).reversed().map { (offset: $0 * 10, size: 1) })))
        #expect(admitted([(-1, 10)]) == 0 && admitted([(.max, 10)]) == 0)
    }

    @Test("A time scale that is not the sample rate", arguments: [90_000, 1_000_000, 88_200, 44_100 * 90])
    func timescale(timescale: Int) throws {
        var file = try Self.file()
        file.timescale = timescale
        let ends = file.durations.indices.map { min(10_500, 1000 * ($0 + 1)) * timescale / 44_100 }
        file.durations = ends.indices.map { ends[$0] - ($0 > 0 ? ends[$0 - 1] : 0) }
        try decodes(file, to: Self.signal.samples)
    }

    @Test("iTunSMPB cuts delay and padding off, unless the edit list knows better")
    func gapless() throws {
        func item(_ text: String) -> [UInt8] {
            let mean = Boxes.full("mean", Array("com.apple.iTunes".utf8))
            let name = Boxes.full("name", Array("iTunSMPB".utf8))
            let item = Boxes.box("----", mean + name + Boxes.full("data", flags: 1, [0, 0, 0, 0] + Array(text.utf8)))
            let handler = Boxes.full("hdlr", Boxes.big(0, 4) + Array("mdirappl".utf8) + Boxes.big(0, 9))
            return Boxes.box("udta", Boxes.full("meta", handler + Boxes.box("ilst", item)))
        }
        let good = " 00000000 00000840 000001D4 0000000000001EF0 00000000 00000000"
        let cases: [(String, [(Int, Int)], Range<Int>)] = [
            (good, [], 2112..<(2112 + 7920)), (good, [(239, 0)], 2112..<(2112 + 7920)),
            (good, [(0, 2112)], 2112..<(2112 + 7920)), (good, [(100, 2112)], 2112..<(2112 + 4410)),
            (good, [(100, 1000)], 1000..<5410),
            (good, [(100, 0)], 0..<4410), (" 00000000 00000840 0000", [], 0..<10_500),
            (" 00000000 00000840 000001D4 FFFFFFFFFFFFFFFF", [], 0..<10_500),
            (" 00000000 00FFFFFF 000001D4 0000000000001EF0", [], 0..<10_500),
            (" 00000000 00000840 00000000 0000000000FFFFFF", [], 0..<10_500), ("", [], 0..<10_500),
        ]
        for (text, edits, range) in cases {
            var file = try Self.file()
            file.userData = item(text)
            if !edits.isEmpty { file.editList = HandmadeMP4.edits(edits.map { (duration: $0.0, mediaTime: $0.1) }) }
            try decodes(file, to: Self.signal.slice(range))
        }
    }

    @Test("Replay gain and texts in UTF-16, in the boxes of iTunes and of QuickTime")
    func tags() throws {
        func freeform(_ name: String, _ text: String) -> [UInt8] {
            let mean = Boxes.full("mean", Array("com.apple.iTunes".utf8))
            return Boxes.box(
                "----",
                mean + Boxes.full("name", Array(name.utf8))
                    + Boxes.full("data", flags: 1, [0, 0, 0, 0] + Array(text.utf8)))
        }
        let title = Boxes.box("\u{1}nam", Boxes.full("data", flags: 2, [0, 0, 0, 0, 0x00, 0x54, 0x20, 0xAC]))
            .replacing(0x01, with: 0xA9)
        let items =
            freeform("replaygain_track_gain", "-7.25 dB") + freeform("REPLAYGAIN_TRACK_PEAK", "0.9") + title
            + freeform("comment", "x") + freeform("replaygain_album_gain", String(repeating: "9", count: 5000))
        let handler = Boxes.full("hdlr", Boxes.big(0, 4) + Array("mdirappl".utf8) + Boxes.big(0, 9))
        for isQuickTime in [false, true] {
            var file = try Self.file()
            let content = handler + Boxes.box("ilst", items)
            file.userData = Boxes.box("udta", isQuickTime ? Boxes.box("meta", content) : Boxes.full("meta", content))
            let metadata = try AudioFile.open(MemorySource(file.bytes)).metadata
            #expect(metadata.title == "T€")
            #expect(metadata.replayGain.trackGain == -7.25 && metadata.replayGain.trackPeak == 0.9)
            #expect(metadata.replayGain.albumGain == nil)
        }
    }

    @Test("The first track of sound whose codec is known plays")
    func otherTracks() throws {
        let empty = Boxes.full("stsz", Boxes.big(0, 8))
        func track(_ id: Int, _ handler: String, _ entry: [UInt8]) -> [UInt8] {
            let description = Boxes.full("stsd", Boxes.big(1, 4) + entry)
            return HandmadeMP4.track(id: id, handler: handler, timescale: 600, tables: description + empty)
        }
        var file = try Self.file()
        file.moreTracks =
            track(7, "vide", Boxes.box("avc1", Boxes.big(0, 78))) + track(8, "soun", HandmadeMP4.audioEntry("ac-4", []))
            + track(9, "text", Boxes.box("text", []))
        try decodes(file, to: Self.signal.samples)
        file.sampleEntry = HandmadeMP4.audioEntry("xyz\u{7}", [])
        #expect(throws: MediaError.unsupported(what: "MP4 with AC-4")) { try AudioFile.open(MemorySource(file.bytes)) }
        file.moreTracks = []
        #expect(throws: MediaError.unsupported(what: "MP4 with codec “xyz?”")) {
            try AudioFile.open(MemorySource(file.bytes))
        }
    }

    @Test("Absurd tables end the track: they ask for no memory and for no time")
    func absurdTables() throws {
        let file = try Self.file()
        let huge = [0xFF, 0xFF, 0xFF, 0xFF] as [UInt8]
        let tables = ["moov", "trak", "mdia", "minf", "stbl"]
        for (name, place) in [("stsz", 16), ("stts", 12), ("stsc", 12), ("stco", 12), ("stsz", 12), ("stsc", 20)] {
            var bytes = file.bytes
            let box = try #require(Boxes.find(tables + [name], in: bytes).first)
            bytes.replaceSubrange((box.lowerBound + place)..<(box.lowerBound + place + 4), with: huge)
            var exercise = DecoderExercise()
            exercise.run(bytes)
            exercise.run(bytes, knowsLength: false)
        }
        // Every chunk at the same offset, thousands of them.
        var repeated = file
        let packet = repeated.packets[0]
        repeated.packets = Array(repeating: packet, count: 3000)
        repeated.durations = Array(repeating: 0, count: 3000)
        repeated.chunkSizes = Array(repeating: 1, count: 3000)
        var bytes = repeated.bytes
        let offsets = try #require(Boxes.find(tables + ["stco"], in: bytes).first)
        for index in 0..<3000 {
            let place = offsets.lowerBound + 16 + 4 * index
            bytes.replaceSubrange(place..<(place + 4), with: Chunks.big(100, 4))
        }
        let decoder = try AudioFile.open(MemorySource(bytes))
        #expect(decoder.decodeAll().samples.count <= 2 * 1000)
        #expect(decoder.damage.truncated)
    }

    @Test("A sample that is larger than any packet ends the track")
    func hugeSample() throws {
        let map = try FrameMap(try Self.signal.flac(["-b1000", "--no-padding"]))
        var file = HandmadeMP4(map, blockSize: 1000, total: 10_500)
        file.packets[5] = [UInt8](repeating: 0x55, count: Int(PacketBuffer.mostBytes) + 1)
        let (decoded, damage) = try decode(file.bytes)
        #expect(difference(decoded.samples, Self.signal.slice(0..<5000)) == nil)
        #expect(damage.truncated)
    }
}

extension [UInt8] {
    fileprivate func replacing(_ byte: UInt8, with other: UInt8) -> [UInt8] { map { $0 == byte ? other : $0 } }
}
