import Foundation
import Library
import Media
import PCM
import TestSupport
import Testing

@testable import OriginService

@Suite("The index of an encoded track")
struct ADTSIndexTests {
    private let stream: ServedAAC
    private let bytes: [UInt8]

    init() throws {
        let folder = try ScratchFolder()
        try Music(frames: 44_100 * 10, seed: 1).writeFLAC(to: folder["a.flac"])
        try run(
            "/usr/bin/ffmpeg",
            ["-v", "error", "-i", folder["a.flac"], "-c:a", "aac", "-b:a", "96000", "-f", "adts", folder["a.aac"]])
        bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder["a.aac"])))
        stream = try #require(ServedAAC(Self.track(frames: 44_100 * 10), .low))
    }

    private static func track(frames: Int64?, rate: Int = 44_100, channels: Int = 2) -> Track {
        Track(
            id: 1, path: "/a", name: "a", stamp: FileStamp(size: 1, modified: 1), container: .flac, codec: .flac,
            format: PCMFormat(sampleRate: rate, channelCount: channels, bitDepth: 16), frameCount: frames,
            metadata: TrackMetadata(), replayGain: ReplayGain())
    }

    private func index(piece: Int) throws -> ADTSIndex {
        var index = ADTSIndex(stream)
        for start in stride(from: 0, to: bytes.count, by: piece) {
            try Array(bytes[start..<min(start + piece, bytes.count)]).withUnsafeBytes { try index.append($0) }
        }
        return index
    }

    @Test("It is the same in whatever pieces the bytes come, and knows the segments", arguments: [1, 5, 100, 65_536])
    func pieces(piece: Int) throws {
        var index = try index(piece: piece)
        #expect(index.count == stream.frameCount && stream.segmentCount == 3)
        #expect(index.segment(3) == nil, "it may not be complete")
        try index.finish()
        let segments = (1...3).compactMap { index.segment($0) }
        #expect(segments.count == 3 && segments[0].lowerBound == 0 && segments[2].upperBound == Int64(bytes.count))
        #expect(segments[0].upperBound == segments[1].lowerBound && segments[1].upperBound == segments[2].lowerBound)
        #expect(index.segment(0) == nil && index.segment(4) == nil)
        #expect(ADTSFrame(bytes[Int(segments[1].lowerBound)...]) != nil)
    }

    @Test("A segment is there as soon as the next one begins")
    func grows() throws {
        var whole = try index(piece: bytes.count)
        try whole.finish()
        let end = try #require(whole.segment(1)).upperBound
        var index = ADTSIndex(stream)
        try Array(bytes[..<(Int(end) + 6)]).withUnsafeBytes { try index.append($0) }
        #expect(index.segment(1) == nil)
        try Array(bytes[(Int(end) + 6)..<(Int(end) + 7)]).withUnsafeBytes { try index.append($0) }
        #expect(index.segment(1) == whole.segment(1))
    }

    @Test("Bytes that are no stream, or another one, are damaged")
    func damaged() throws {
        var other = ADTSIndex(try #require(ServedAAC(Self.track(frames: 100, rate: 48_000), .low)))
        #expect(throws: MediaError.self) { try bytes.withUnsafeBytes { try other.append($0) } }
        var text = ADTSIndex(stream)
        #expect(throws: MediaError.self) { try Array("not found\n".utf8).withUnsafeBytes { try text.append($0) } }
        var cut = ADTSIndex(stream)
        try Array(bytes.dropLast(1)).withUnsafeBytes { try cut.append($0) }
        #expect(throws: MediaError.self) { try cut.finish() }
        var none = ADTSIndex(stream)
        #expect(throws: MediaError.self) { try none.finish() }
    }

    @Test(
        "The format of a track as AAC follows from the track",
        arguments: [(44_100, 44_100), (96_000, 48_000), (8000, 8000)])
    func stream(rate: Int, expected: Int) throws {
        let stream = try #require(ServedAAC(Self.track(frames: Int64(rate) * 10, rate: rate, channels: 1), .high))
        #expect(stream.sampleRate == expected && stream.heardCount == Int64(expected) * 10)
        #expect(stream.frameCount == (1024 + expected * 10 + 1023) / 1024)
        #expect(ServedAAC(Self.track(frames: nil), .high) == nil)
        #expect(ServedAAC(Self.track(frames: 10, channels: 6), .high) == nil)
    }
}
