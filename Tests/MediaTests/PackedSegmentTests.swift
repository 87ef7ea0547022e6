import Foundation
import Testing

@testable import Manifests
@testable import Media

#if AAC
    @Suite("Packed AAC in segments (RFC 8216, 3.4)", Tool.needsFFmpeg, Tool.needsPackager)
    struct PackedSegmentTests {
        /// The files of a stream.
        private static func files(_ options: [String]) throws -> [String: [UInt8]] {
            let source = try Signal(frames: 300_000).ffmpeg(options, to: "file.mp4")
            return try Packaged(
                source, "segment_template=$Number$.aac,playlist_name=audio.m3u8",
                ["--segment_duration", "0.5", "--hls_master_playlist_output", "master.m3u8"]
            ).files
        }

        private static func playlist(_ files: [String: [UInt8]]) throws -> SegmentList {
            try MediaPlaylist(try #require(files["audio.m3u8"]), url: "https://h/audio.m3u8").segments
        }

        /// The bytes after the tag at the start of a segment, for sizes of less than 128 bytes.
        private static func packets(_ segment: [UInt8]) -> [UInt8] { Array(segment[(10 + Int(segment[9]))...]) }

        @Test("The samples are those of the packets in one file, also after seeks")
        func plays() throws {
            let files = try Self.files(AACReference.encoder + ["-b:a", "96k"])
            let list = try Self.playlist(files)
            #expect(list.segments.count > 10)
            let whole = (1...list.segments.count).flatMap { Self.packets(files["\($0).aac"] ?? []) }
            let expected = try decode(whole).decoded.samples
            #expect(expected.count / 2 > 300_000)
            let decoder = try AudioFile.open(try PackagedSegments(.list(list), files))
            #expect(difference(decoder.decodeAll().samples, expected) == nil)
            #expect(decoder.damage.isEmpty)
            let length = try #require(decoder.properties.frameCount)
            #expect(abs(length - Int64(expected.count / 2)) < 3000)
            for frame in [290_000, 0, 123_456, 250_000, 22_050, 1023] {
                try decoder.seek(toFrame: Int64(frame))
                let end = min(expected.count / 2, frame + 20_000)
                let found = try decoder.decode(frames: 20_000)
                let wanted = Array(expected[(frame * 2)..<(end * 2)])
                #expect(AACReference.difference(found, wanted, step: 256) == nil, "\(frame)")
            }
        }

        @Test("A seek asks for the segment that it needs, not for all before")
        func seek() throws {
            let files = try Self.files(AACReference.encoder + ["-b:a", "96k"])
            let list = try Self.playlist(files)
            let segments = MemorySegments(
                nil, (1...list.segments.count).map { files["\($0).aac"] ?? [] }, list.timeline)
            let decoder = try AudioFile.open(segments)
            segments.forget()
            try decoder.seek(toFrame: 250_000)
            _ = try decoder.decode(frames: 100)
            #expect(!segments.asked.isEmpty && segments.asked.allSatisfy { $0 >= 9 }, "\(segments.asked)")
        }

        @Test("Time stamps that wrap around, and segments without tags")
        func times() throws {
            let files = try Self.files(AACReference.encoder + ["-b:a", "96k"])
            let list = try Self.playlist(files)
            let plain = (1...list.segments.count).map { files["\($0).aac"] ?? [] }
            let expected = try decode(plain.flatMap(Self.packets)).decoded.samples
            let slice = Array(expected[400_000..<420_000])
            // 20 bytes of headers and the owner's 45 are before the 8 of the time.
            let wrapped = plain.map { segment -> [UInt8] in
                var segment = segment
                let time = segment[65..<73].reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
                let later = (time + 0x1_FFFC_0000) & 0x1_FFFF_FFFF
                for index in 0..<8 { segment[65 + index] = UInt8(truncatingIfNeeded: later >> UInt64(56 - 8 * index)) }
                return segment
            }
            for segments in [wrapped, plain.map(Self.packets)] {
                let decoder = try AudioFile.open(MemorySegments(nil, segments, list.timeline, notYetEvery: 5))
                try decoder.seek(toFrame: 200_000)
                #expect(AACReference.difference(try decoder.decode(frames: 10_000), slice, step: 256) == nil)
            }
        }
    }
#endif
