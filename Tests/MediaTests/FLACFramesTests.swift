import PCM
import Testing

@testable import Media

@Suite("FLAC: its frames as bytes", Tool.needsFLAC)
struct FLACFramesTests {
    private static func all(_ bytes: [UInt8]) throws(MediaError) -> [FLACFrames.Frame] {
        var frames = try FLACFrames(MemorySource(bytes))
        var all: [FLACFrames.Frame] = []
        while let frame = try frames.next() { all.append(frame) }
        return all
    }

    struct Encoding: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var frames = 10_500
        var rate = 44_100
        var channels = 2
        var depth = 16
        var options = ["-b1000"]
        var fromPipe = false
    }

    static let encodings = [
        Encoding(testDescription: "as usual", frames: 50_000, options: []),
        Encoding(testDescription: "mono of 8 bits", channels: 1, depth: 8),
        Encoding(testDescription: "24 bits at 192 kHz", rate: 192_000, depth: 24),
        Encoding(testDescription: "8 channels", channels: 8),
        Encoding(testDescription: "whole blocks only", frames: 10_000),
        Encoding(testDescription: "less than a block", frames: 300),
        Encoding(testDescription: "one sample", frames: 1),
        Encoding(testDescription: "blocks of 16", frames: 5_000, options: ["-b16"]),
        Encoding(testDescription: "blocks of 65,535", frames: 200_000, options: ["-b65535"]),
        Encoding(testDescription: "a rate in no table", rate: 44_123),
        Encoding(testDescription: "without a total", fromPipe: true),
        Encoding(testDescription: "verbatim", options: ["-b1000", "--disable-constant-subframes", "-0"]),
    ]

    @Test("They begin and end where the encoder has put them", arguments: encodings)
    func offsets(encoding: Encoding) throws {
        let signal = Signal(
            frames: encoding.frames, rate: encoding.rate, channels: encoding.channels, depth: encoding.depth)
        let map = try FrameMap(try signal.flac(encoding.options, fromPipe: encoding.fromPipe))
        let frames = try Self.all(map.bytes)
        #expect(frames.map { Int($0.offset) } == Array(map.offsets.dropLast()))
        #expect(frames.map { Int($0.offset) + $0.byteCount } == Array(map.offsets.dropFirst()))
        #expect(frames.reduce(0) { $0 + $1.sampleCount } == encoding.frames)
        var next: Int64 = 0
        for frame in frames {
            #expect(frame.firstSample == next)
            next += Int64(frame.sampleCount)
        }
    }

    @Test("From any frame on", arguments: [0, 1, 5, 9, 10])
    func fromTheMiddle(index: Int) throws {
        let bytes = try Signal(frames: 10_500).flac(["-b1000"])
        let all = try Self.all(bytes)
        var frames = try FLACFrames(MemorySource(bytes))
        frames.continueAt(offset: all[index].offset, firstSample: all[index].firstSample)
        var found: [FLACFrames.Frame] = []
        while let frame = try frames.next() { found.append(frame) }
        #expect(found == Array(all[index...]))
    }

    @Test("Frames of different sizes, which count samples")
    func variableSize() throws {
        let signal = Signal(frames: 10_500)
        let (large, small) = (
            try FrameMap(try signal.flac(["-b1000", "--no-padding"])),
            try FrameMap(try signal.flac(["-b500", "--no-padding"]))
        )
        var bytes = large.header
        var sizes: [Int] = []
        for index in 0..<3 {
            let frame = Self.variable(large.frames(index..<(index + 1)), sample: index * 1000)
            bytes += frame
            sizes.append(frame.count)
        }
        for index in 6..<21 {
            let frame = Self.variable(small.frames(index..<(index + 1)), sample: index * 500)
            bytes += frame
            sizes.append(frame.count)
        }
        // The smallest block in STREAMINFO.
        bytes.replaceSubrange(8..<10, with: [0x01, 0xF4])
        #expect(difference(try decode(bytes).decoded.samples, signal.samples) == nil)
        let frames = try Self.all(bytes)
        #expect(frames.map(\.byteCount) == sizes)
        #expect(frames.map(\.sampleCount) == [1000, 1000, 1000] + [Int](repeating: 500, count: 15))
    }

    /// The frame with the number of its first sample instead of its own (RFC 9639, 9.1).
    private static func variable(_ frame: [UInt8], sample: Int) -> [UInt8] {
        // With a few hundred frames, the number has at most two bytes.
        let numberCount = frame[4] < 0x80 ? 1 : 2
        let number: [UInt8] =
            if sample < 0x80 {
                [UInt8(sample)]
            } else if sample < 0x800 {
                [UInt8(0xC0 | sample >> 6), UInt8(0x80 | sample & 0x3F)]
            } else {
                [UInt8(0xE0 | sample >> 12), UInt8(0x80 | sample >> 6 & 0x3F), UInt8(0x80 | sample & 0x3F)]
            }
        // Two bytes of the block's size.
        let rest = 4 + numberCount + 2
        var bytes = [frame[0], frame[1] | 1, frame[2], frame[3]] + number + frame[(4 + numberCount)..<rest]
        bytes.append(FLACChecksum.crc8(bytes))
        bytes += frame[(rest + 1)..<(frame.count - 2)]
        let checksum = bytes.reduce(UInt16(0)) { FLACChecksum.crc16($0, $1) }
        return bytes + [UInt8(checksum >> 8), UInt8(checksum & 0xFF)]
    }

    @Test("Tags in front and behind do not belong to the frames")
    func tagsAround() throws {
        let bytes = try Signal(frames: 10_500).flac(["-b1000"])
        let id3 = Array("ID3".utf8) + [3, 0, 0, 0, 0, 0, 100] + [UInt8](repeating: 0, count: 100)
        let appended = Array("TAG".utf8) + [UInt8](repeating: 0x20, count: 125)
        let frames = try Self.all(id3 + bytes + appended)
        #expect(frames.map(\.byteCount) == (try Self.all(bytes)).map(\.byteCount))
        #expect(frames.first?.offset == (try Self.all(bytes)).first.map { $0.offset + Int64(id3.count) })
    }

    @Test("Damage is never passed on", arguments: ["a bit", "a frame", "the end", "more", "a header", "the total"])
    func damage(kind: String) throws {
        let map = try FrameMap(try Signal(frames: 10_500).flac(["-b1000", "--no-padding"]))
        var bytes = map.bytes
        switch kind {
        case "a bit": bytes[map.middle(of: 5)] ^= 0x10
        case "a frame": bytes.removeSubrange(map.offsets[3]..<map.offsets[4])
        case "the end": bytes.removeLast(100)
        case "more": bytes += [UInt8](repeating: 0x55, count: 1000)
        case "a header": bytes[map.offsets[7] + 2] ^= 0x40
        default: bytes[25] ^= 1
        }
        #expect(throws: MediaError.self) { try Self.all(bytes) }
    }

    @Test("Bytes that are no FLAC with a header are refused", arguments: ["", "fLaC", "RIFF....WAVE"])
    func notFLAC(text: String) {
        #expect(throws: MediaError.self) { try FLACFrames(MemorySource(Array(text.utf8))) }
    }
}
