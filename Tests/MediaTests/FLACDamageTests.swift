import PCM
import Testing

@testable import Media

@Suite("FLAC: a damaged file loses only the damaged part", Tool.needsFLAC)
struct FLACDamageTests {
    /// 10 blocks of 1000 frames and one of 500.
    let signal = Signal(frames: 10_500)
    let map: FrameMap

    init() throws {
        map = try FrameMap(try signal.flac(["-b1000", "--no-padding"]))
        #expect(map.offsets.count == 12)
    }

    /// The signal with silence instead of some blocks.
    private func silenced(_ blocks: Range<Int>) -> [Int32] {
        let silence = (blocks.lowerBound * 2000)..<min(blocks.upperBound * 2000, signal.samples.count)
        return signal.samples.enumerated().map { silence.contains($0.offset) ? 0 : $0.element }
    }

    private func expectSilence(
        in blocks: Range<Int>, of bytes: [UInt8], incidents: Int = 1, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let (decoded, damage) = try decode(bytes)
        #expect(decoded.error == nil, sourceLocation: sourceLocation)
        #expect(difference(decoded.samples, silenced(blocks)) == nil, sourceLocation: sourceLocation)
        let frames = min(blocks.upperBound * 1000, 10_500) - blocks.lowerBound * 1000
        #expect(damage.silencedFrames == Int64(frames), sourceLocation: sourceLocation)
        #expect(damage.incidents == incidents, sourceLocation: sourceLocation)
        #expect(!damage.truncated, sourceLocation: sourceLocation)
    }

    @Test("A flipped bit silences its block", arguments: 0..<11)
    func flippedBit(block: Int) throws {
        var bytes = map.bytes
        bytes[map.middle(of: block)] ^= 0x10
        try expectSilence(in: block..<(block + 1), of: bytes)
    }

    @Test("A destroyed frame header silences its block", arguments: 0..<10)
    func destroyedHeader(block: Int) throws {
        var bytes = map.bytes
        for index in 0..<6 { bytes[map.offsets[block] + index] = 0 }
        try expectSilence(in: block..<(block + 1), of: bytes)
    }

    @Test("Whole frames cut out", arguments: [0..<1, 0..<4, 3..<4, 3..<8, 1..<10])
    func lostFrames(blocks: Range<Int>) throws {
        let bytes = map.header + map.frames(0..<blocks.lowerBound) + map.frames(blocks.upperBound..<11)
        try expectSilence(in: blocks, of: bytes)
    }

    @Test("Bytes cut out from the middle of one frame to the middle of another", arguments: [0..<2, 3..<5, 2..<9])
    func lostBytes(blocks: Range<Int>) throws {
        let end = map.middle(of: blocks.upperBound - 1)
        let bytes = Array(map.bytes[..<map.middle(of: blocks.lowerBound)] + map.bytes[end...])
        try expectSilence(in: blocks, of: bytes)
    }

    @Test("Without a total the silence is the same")
    func unknownTotal() throws {
        let map = try FrameMap(try signal.flac(["-b1000", "--no-padding"], fromPipe: true))
        try expectSilence(in: 3..<8, of: map.header + map.frames(0..<3) + map.frames(8..<11))
    }

    @Test("Garbage between frames costs nothing")
    func garbage() throws {
        var generator = SeededGenerator(seed: 3)
        let garbage = (0..<5000).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let bytes = Array(map.bytes[..<map.offsets[4]] + garbage + map.bytes[map.offsets[4]...])
        let (decoded, damage) = try decode(bytes)
        #expect(difference(decoded.samples, signal.samples) == nil)
        #expect(damage.silencedFrames == 0 && damage.incidents == 1)
    }

    @Test("A tag behind the last frame is no damage", arguments: [false, true])
    func trailingTag(fromPipe: Bool) throws {
        let tag = Array("TAG".utf8) + [UInt8](repeating: 0x20, count: 125)
        let (decoded, damage) = try decode(try signal.flac(fromPipe: fromPipe) + tag)
        #expect(difference(decoded.samples, signal.samples) == nil)
        #expect(damage.isEmpty)
    }

    @Test("Two places are two incidents")
    func twoPlaces() throws {
        var bytes = map.bytes
        bytes[map.middle(of: 2)] ^= 1
        bytes[map.middle(of: 6)] ^= 1
        let (decoded, damage) = try decode(bytes)
        #expect(decoded.samples.count == signal.samples.count)
        #expect(damage.incidents == 2 && damage.silencedFrames == 2000)
    }

    @Test("A truncated file plays up to its end", arguments: 1..<11)
    func truncated(blocks: Int) throws {
        for end in [map.offsets[blocks], map.offsets[blocks] + 1, map.middle(of: blocks), map.offsets[blocks + 1] - 1] {
            let (decoded, damage) = try decode(Array(map.bytes[..<end]))
            #expect(decoded.error == nil)
            #expect(difference(decoded.samples, signal.slice(0..<(blocks * 1000))) == nil)
            #expect(damage.truncated)
            #expect(damage.silencedFrames == 0)
        }
    }

    @Test("Cut before its first frame is whole, a file is an error")
    func noFrame() throws {
        for end in 1..<map.offsets[1] {
            let bytes = Array(map.bytes[..<end])
            let expected: MediaError =
                switch end {
                case ..<4: .notAudio(looksLike: "text")
                case ..<42: .damaged(what: "FLAC cut off in its header")
                case ..<map.offsets[0]: .damaged(what: "FLAC with a broken header and no intact frame")
                case map.offsets[0]: .damaged(what: "FLAC that ends after its header")
                default: .damaged(what: "FLAC without one intact frame")
                }
            #expect(outcome(of: bytes) == expected, "cut at \(end)")
        }
        #expect(outcome(of: []) == .empty)
    }

    /// The error of opening or of reading to the end.
    private func outcome(of bytes: [UInt8]) -> MediaError? {
        do throws(MediaError) {
            return try AudioFile.open(MemorySource(bytes)).decodeAll().error
        } catch {
            return error
        }
    }

    @Test("Errors name the reason")
    func reasons() throws {
        #expect(throws: MediaError.damaged(what: "FLAC cut off in its header")) { try decode(Array(map.bytes[..<20])) }
        #expect(
            try decode(map.header).decoded.error == .damaged(what: "FLAC that ends after its header"))
        let allZero = map.header + [UInt8](repeating: 0, count: 10_000)
        #expect(try decode(allZero).decoded.error == .damaged(what: "FLAC without one intact frame"))
    }

    @Test("A number that asks for more silence than can be is not believed")
    func implausibleGap() throws {
        // At 1 Hz 10 minutes are 600 frames.
        let long = Signal(frames: 2000, rate: 1, channels: 1)
        let map = try FrameMap(try long.flac(["-b100"], fromPipe: true))
        let near = try decode(map.header + map.frames(0..<1) + map.frames(7..<8))
        #expect(near.damage.silencedFrames == 600 && near.decoded.samples.count == 800)
        let far = try decode(map.header + map.frames(0..<1) + map.frames(8..<9))
        #expect(far.damage.incidents == 1 && far.damage.silencedFrames == 0)
        #expect(difference(far.decoded.samples, long.slice(0..<100) + long.slice(800..<900)) == nil)
    }

    @Test("Appended files play on, each in its format", arguments: [false, true])
    func appended(fromPipe: Bool) throws {
        let other = Signal(frames: 5000, rate: 96000, channels: 1, depth: 24, seed: 2)
        let bytes = try signal.flac(fromPipe: fromPipe) + other.flac() + signal.flac()
        let decoded = try decode(bytes).decoded
        #expect(decoded.error == nil)
        #expect(decoded.parts.map(\.format) == [signal.format, other.format, signal.format])
        for (part, expected) in zip(decoded.parts, [signal, other, signal]) {
            #expect(difference(part.samples, expected.samples) == nil)
        }
    }

    @Test("An appended file of the same format is no gap and no damage")
    func appendedAlike() throws {
        let (decoded, damage) = try decode(signal.flac() + signal.flac())
        #expect(difference(decoded.samples, signal.samples + signal.samples) == nil)
        #expect(damage.isEmpty)
    }

    @Test("Back from an appended file the format is announced again")
    func seekBack() throws {
        let other = Signal(frames: 5000, rate: 96000, channels: 1, depth: 24, seed: 2)
        let decoder = try AudioFile.open(MemorySource(try signal.flac() + other.flac()))
        #expect(decoder.decodeAll().parts.count == 2)
        try decoder.seek(toFrame: 3000)
        let buffer = UnsafeMutableBufferPointer<Int32>.allocate(capacity: 8192)
        defer { buffer.deallocate() }
        #expect(try decoder.read(into: buffer) == .format(signal.format))
        #expect(try difference(decoder.decode(frames: 1000), signal.slice(3000..<4000)) == nil)
    }

    @Test("Frames of another format inside a stream are a change of format")
    func changeInside() throws {
        let other = Signal(frames: 3000, rate: 96000, channels: 1, depth: 24, seed: 2)
        let inner = try FrameMap(try other.flac(["-b1000"], fromPipe: true))
        let outer = try FrameMap(try signal.flac(["-b1000"], fromPipe: true))
        let bytes = outer.header + outer.frames(0..<2) + inner.frames(0..<3) + outer.frames(5..<11)
        let decoded = try decode(bytes).decoded
        #expect(decoded.parts.map(\.format) == [signal.format, other.format, signal.format])
        #expect(difference(decoded.parts[1].samples, other.samples) == nil)
        #expect(difference(decoded.parts[2].samples, signal.slice(5000..<10_500)) == nil)
    }

    @Test(
        "A wrong total: too small plays to the end, too large is a truncated file",
        arguments: [
            1, 5000, 10_499, 10_501, 100_000,
        ])
    func lyingTotal(total: Int) throws {
        var bytes = map.bytes
        // The lower 32 of its 36 bits.
        bytes.replaceSubrange(22..<26, with: Chunks.big(total, 4))
        let (decoded, damage) = try decode(bytes)
        #expect(difference(decoded.samples, signal.samples) == nil)
        #expect(damage.truncated == (total > 10_500))
    }

    @Test("A broken header of an appended file is no error of the first one")
    func appendedGarbage() throws {
        let (decoded, _) = try decode(map.bytes + FLACHeader.marker + [0, 0, 0, 34] + [UInt8](repeating: 0, count: 40))
        #expect(difference(decoded.samples, signal.samples) == nil)
        #expect(decoded.error == nil)
    }
}
