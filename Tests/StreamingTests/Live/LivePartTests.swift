import Crypto
import Foundation
import Media
import Network
import PCM
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Player

@Suite("Live playlists of HLS whose content changes (docs/playback.md, 15.12)", StreamTool.needed)
struct LivePartTests {
    private let content: PackagedContent
    private let track: Track
    private let first: Piece

    /// A recording that Shaka Packager has divided.
    private struct Piece {
        /// The lines of each segment.
        var segments: [String]
        /// `EXT-X-MAP`.
        var map: String
        /// `EXT-X-KEY`; empty without one.
        var key: String
        /// The starts in frames; the last one is the end.
        var starts: [Int]

        var count: Int { segments.count }
        func lines(_ range: Range<Int>) -> String { segments[range].joined() }
    }

    init() throws {
        content = try PackagedContent()
        track = try Track("a", frames: 80_000, in: content.folder)
        first = try Self.package(track, "a", in: content)
        try #require(first.count > 7)
    }

    private static func package(
        _ track: Track, _ name: String, _ options: [String] = [], in content: PackagedContent
    ) throws -> Piece {
        try content.encode(track, to: "\(name).mp4")
        let manifest = try content.package(["\(name).mp4"], ["--segment_duration", "1"] + options)
        let lines = try content.text("\(name).m3u8").split(separator: "\n").map { String($0) + "\n" }
        var frames = 0
        var starts = [0]
        for match in manifest.matches(of: /<S t="(\d+)" d="(\d+)"(?: r="(\d+)")?/) {
            for _ in 0...(match.3.flatMap { Int($0) } ?? 0) {
                frames += Int(match.2) ?? 0
                starts.append(frames)
            }
        }
        let piece = Piece(
            segments: lines.indices.filter { lines[$0].hasPrefix("#EXTINF") }.map { lines[$0] + lines[$0 + 1] },
            map: try #require(lines.first { $0.hasPrefix("#EXT-X-MAP") }),
            key: lines.first { $0.hasPrefix("#EXT-X-KEY") } ?? "", starts: starts)
        try #require(starts.count == piece.count + 1)
        return piece
    }

    private static let mark = "#EXT-X-DISCONTINUITY\n"

    private static func playlist(_ lines: String, number: Int, isOver: Bool) -> String {
        "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:\(number)\n" + lines
            + (isOver ? "#EXT-X-ENDLIST\n" : "")
    }

    /// Replaces the playlist on the server.
    private func publish(_ lines: String, number: Int, isOver: Bool = false) throws {
        try Self.playlist(lines, number: number, isOver: isOver)
            .write(toFile: content.folder["live.m3u8"], atomically: true, encoding: .utf8)
    }

    private func open() throws -> any AudioDecoder {
        try content.open(
            #"{"mimeType": "application/vnd.apple.mpegurl", "urls": ["https://content/live.m3u8"]}"#,
            type: "application/vnd.tidal.emu")
    }

    private func fetches(_ name: String) -> Int { content.fetched.filter { $0.hasSuffix(name) }.count }

    /// The samples that can be decoded now.
    private func hear(_ decoder: any AudioDecoder) throws -> (samples: [Int32], formats: [PCMFormat], isOver: Bool) {
        var samples: [Int32] = []
        var formats: [PCMFormat] = []
        let buffer = UnsafeMutableBufferPointer<Int32>.allocate(capacity: 8192)
        defer { buffer.deallocate() }
        while true {
            switch try decoder.read(into: buffer) {
            case .frames(let count): samples += buffer.prefix(count * 2)
            case .format(let format): formats.append(format)
            case .notYet: return (samples, formats, false)
            case .end: return (samples, formats, true)
            }
        }
    }

    /// Decodes the segments that were added to the playlist.
    private func reload(
        _ decoder: any AudioDecoder
    ) throws -> (samples: [Int32], formats: [PCMFormat], isOver: Bool) {
        decoder.whenReadable {}
        content.service.network.passDelays()
        return try hear(decoder)
    }

    private func expect(_ heard: [Int32], _ expected: [Int32], _ comment: Comment? = nil) {
        // Not in the expectation: the difference of two long arrays takes minutes.
        let isEqual = heard == expected
        #expect(isEqual, comment ?? "\(heard.count) samples instead of \(expected.count)")
    }

    @Test("A reload brings another initialization, also for another format", arguments: [8000, 16_000])
    func otherInitialization(rate: Int) throws {
        let other = try Track("b", frames: rate * 6, rate: rate, in: content.folder)
        let second = try Self.package(other, "b", in: content)
        try #require(second.count > 4)
        let formats = rate == 8000 ? [] : [other.format]

        try publish(first.map + first.lines(0..<4), number: 0)
        let decoder = try open()
        expect(try hear(decoder).samples, track.samples(0..<first.starts[4]))
        try publish(first.map + first.lines(2..<6) + second.map + second.lines(0..<3), number: 2)
        var heard = try reload(decoder)
        expect(
            heard.samples,
            track.samples(first.starts[4]..<first.starts[6]) + other.samples(0..<second.starts[3]))
        #expect(heard.formats == formats && !heard.isOver)

        // The same one again is no change, and neither are the segments that are gone.
        try publish(second.map + second.lines(1..<4), number: 7)
        heard = try reload(decoder)
        expect(heard.samples, other.samples(second.starts[3]..<second.starts[4]))
        try publish(second.map + second.lines(2..<second.count), number: 8, isOver: true)
        heard = try reload(decoder)
        expect(heard.samples, other.samples(from: second.starts[4]))
        #expect(heard.formats.isEmpty && heard.isOver)
        #expect(fetches("a/init.mp4") == 1 && fetches("b/init.mp4") == 1)
        #expect(decoder.damage.incidents == 0 && content.service.playbackinfoRequests.count == 1)

        // Played segments can be played again.
        try decoder.seek(toFrame: Int64(first.starts[1]))
        heard = try hear(decoder)
        expect(heard.samples, track.samples(first.starts[1]..<first.starts[6]) + other.samples)
        #expect(heard.isOver)
    }

    @Test("Another initialization is in the playlist from the beginning, and the first one comes again")
    func fromTheBeginning() throws {
        let other = try Track("b", frames: 30_000, in: content.folder)
        // With the vector of the other initialization segment, decoding fails.
        let key = [UInt8](1...16)
        let first = try encrypted(track, "k", key, vector: 1)
        let second = try encrypted(other, "l", key, vector: 2)
        try publish(first.key + first.map + first.lines(0..<2) + second.map + second.lines(0..<2), number: 5)
        let decoder = try open()
        expect(
            try hear(decoder).samples, track.samples(0..<first.starts[2]) + other.samples(0..<second.starts[2]))
        try publish(
            first.key + second.map + second.lines(0..<3) + first.map + first.lines(6..<first.count), number: 7,
            isOver: true)
        let heard = try reload(decoder)
        expect(
            heard.samples,
            other.samples(second.starts[2]..<second.starts[3]) + track.samples(from: first.starts[6]))
        #expect(heard.isOver && decoder.damage.incidents == 0 && fetches("l/init.mp4") == 1)
        #expect(content.service.playbackinfoRequests.count == 1)
    }

    @Test("A discontinuity: the times begin again", arguments: [true, false])
    func discontinuity(hasTag: Bool) throws {
        try publish(first.map + first.lines(0..<4), number: 0)
        let decoder = try open()
        _ = try hear(decoder)
        var samples: [Int32] = []
        if hasTag {
            try publish(first.map + first.lines(2..<6) + Self.mark + first.lines(0..<3), number: 2)
        } else {
            // The tag is gone with the segments before it.
            try publish(first.map + first.lines(2..<6), number: 2)
            samples = try reload(decoder).samples
            try publish("#EXT-X-DISCONTINUITY-SEQUENCE:1\n" + first.map + first.lines(0..<3), number: 6)
        }
        samples += try reload(decoder).samples
        expect(samples, track.samples(first.starts[4]..<first.starts[6]) + track.samples(0..<first.starts[3]))
        #expect(fetches("a/init.mp4") == 2)

        // A number that grows because a tag has gone is no discontinuity.
        try publish(
            "#EXT-X-DISCONTINUITY-SEQUENCE:\(hasTag ? 1 : 2)\n" + first.map + first.lines(1..<first.count), number: 7,
            isOver: true)
        let heard = try reload(decoder)
        expect(heard.samples, track.samples(from: first.starts[3]))
        #expect(heard.isOver && fetches("a/init.mp4") == 2)
        #expect(decoder.damage.incidents == 0 && content.service.playbackinfoRequests.count == 1)
    }

    /// A recording with encrypted samples. The initialization does not depend on the key, but it has the vector.
    private func encrypted(_ track: Track, _ name: String, _ key: [UInt8], vector: UInt8 = 0) throws -> Piece {
        try Data(key).write(to: URL(fileURLWithPath: content.folder["\(name).key"]))
        let zero = String(repeating: "0", count: 32)
        return try Self.package(
            track, name,
            [
                "--clear_lead", "0", "--hls_key_uri", "\(name).key", "--enable_raw_key_encryption",
                "--keys", "label=:key_id=\(zero):key=\(hexadecimal(key))",
                "--iv", hexadecimal([UInt8](repeating: vector, count: 16)), "--protection_scheme", "cbcs",
            ], in: content)
    }

    @Test("Another key of samples: each segment is decrypted with its own")
    func keysOfSamples() throws {
        let one = try encrypted(track, "k", [UInt8](1...16))
        let two = try encrypted(track, "l", [UInt8](101...116))
        try #require(one.key.contains("SAMPLE-AES") && one.key != two.key && one.starts == two.starts)
        try publish(one.key + one.map + one.lines(0..<4), number: 0)
        let decoder = try open()
        expect(try hear(decoder).samples, track.samples(0..<one.starts[4]))
        #expect(fetches("l.key") == 0)
        try publish(one.key + one.map + one.lines(1..<5) + two.key + two.lines(5..<6), number: 1)
        expect(try reload(decoder).samples, track.samples(one.starts[4]..<one.starts[6]))
        // The listed part of the stream begins after the change.
        try publish(two.key + one.map + two.lines(5..<two.count), number: 5, isOver: true)
        let heard = try reload(decoder)
        expect(heard.samples, track.samples(from: one.starts[6]))
        #expect(heard.isOver && decoder.damage.incidents == 0)
        #expect(fetches("k.key") == 1 && fetches("l.key") == 1)

        // The same in a playlist that is complete.
        let text = Self.playlist(
            one.key + one.map + one.lines(0..<5) + Self.mark + two.key + two.map + two.lines(5..<two.count), number: 0,
            isOver: true)
        expect(try content.open(text, type: "application/vnd.apple.mpegurl").decodeRest().samples, track.samples)
    }

    @Test("Keys of whole segments change with every segment, with and without a vector")
    func keysOfSegments() throws {
        var lines: [String] = []
        for place in 0..<first.count {
            let key = (1...16).map { UInt8($0 + place) }
            let hasVector = place % 2 == 0
            let vector = [UInt8](repeating: 0, count: 15) + [UInt8(hasVector ? 200 : place + 100)]
            let plain = try #require(PackagedContent.bytes(at: "a/\(place + 1).m4s", in: content.folder))
            let padding = 16 - plain.count % 16
            var cipher = try AESCBC(.encrypt, key: SecretBytes(copying: key), initializationVector: vector)
            let bytes = try cipher.process(plain + [UInt8](repeating: UInt8(padding), count: padding))
            try Data(bytes).write(to: URL(fileURLWithPath: content.folder["s\(place).m4s"]))
            try Data(key).write(to: URL(fileURLWithPath: content.folder["s\(place).key"]))
            let duration = try #require(first.segments[place].split(separator: "\n").first)
            lines.append(
                "#EXT-X-KEY:METHOD=AES-128,URI=\"s\(place).key\"" + (hasVector ? ",IV=0x\(hexadecimal(vector))" : "")
                    + "\n\(duration)\ns\(place).m4s\n")
        }
        try publish(first.map + lines[0..<4].joined(), number: 100)
        let decoder = try open()
        expect(try hear(decoder).samples, track.samples(0..<first.starts[4]))
        try publish(first.map + lines[3..<6].joined(), number: 103)
        expect(try reload(decoder).samples, track.samples(first.starts[4]..<first.starts[6]))
        try publish(first.map + lines[5...].joined(), number: 105, isOver: true)
        let heard = try reload(decoder)
        expect(heard.samples, track.samples(from: first.starts[6]))
        #expect(heard.isOver && fetches("a/init.mp4") == 1)
        #expect(lines.indices.allSatisfy { fetches("s\($0).key") == 1 })
        #expect(content.service.playbackinfoRequests.count == 1)
    }
}
