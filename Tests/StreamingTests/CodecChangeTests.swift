import Foundation
import Media
import PlayerTestSupport
import TestSupport
import Testing

@testable import Player
@testable import Fetching

@Suite("A change between AAC and FLAC (docs/playback.md, 15.11)", StreamTool.needed)
struct CodecChangeTests {
    private let content: PackagedContent
    private let track: Track

    init() throws {
        content = try PackagedContent()
        track = try Track("a", frames: 320_001, in: content.folder)
        try content.encode(track, to: "aac.mp4", ["-c:a", "aac", "-aac_pns", "0", "-b:a", "32k"])
        try content.encode(track, to: "flac.mp4")
    }

    /// One choice of two codecs.
    private func manifest() throws -> String {
        try content.package(["aac.mp4", "flac.mp4"], ["--segment_duration", "1"])
    }

    /// The numbers of the segments that were fetched, in order, without the initialization.
    private func numbers(_ name: String) -> [Int] {
        content.fetched.compactMap { url in
            url.contains("\(name)/") ? Int(url.split(separator: "/").last?.prefix { $0 != "." } ?? "") : nil
        }
    }

    @Test("From AAC to FLAC no segment is fetched before the one that is heard first")
    func up() throws {
        content.serve { $0 < 6 ? 60_000 : 50_000_000 }
        content.throughput.add(bytes: 1 << 20, nanoseconds: 83_886_080_000)
        let decoder = try content.open(manifest())
        #expect(decoder.properties.codec == .aac)
        let played = try decoder.decodeRest()
        let boundary = try #require(played.changes.first?.frame)
        let isEqual = Array(played.samples[(boundary * 2)...]) == track.samples(from: boundary)
        #expect(isEqual && played.changes.count == 1 && boundary > 0)
        // The head of the first segment shows the format.
        let (before, after) = (numbers("aac"), numbers("flac").filter { $0 != 1 })
        #expect(after.first == (before.last ?? 0) + 1 && after == Array(after.sorted()), "\(before) \(after)")
    }

    @Test("From FLAC to AAC the segment before is fetched as well: its last packet is needed")
    func down() throws {
        let alone = try content.open(try content.package(["aac.mp4"], ["--segment_duration", "1"])).decodeRest().samples
        let wholeCount = content.fetched.count
        let text = try manifest()
        content.serve { _ in 40_000 }
        content.throughput.add(bytes: 1 << 20, nanoseconds: 8_388_608)
        let decoder = try content.open(text)
        #expect(decoder.properties.codec == .flac)
        content.throughput.add(bytes: 1 << 20, nanoseconds: 83_886_080_000)
        let played = try decoder.decodeRest()
        let boundary = try #require(played.changes.first?.frame) * 2
        #expect(Array(played.samples[..<boundary]) == Array(track.samples[..<boundary]))
        #expect(Array(played.samples[boundary...]) == Array(alone[boundary...]))
        let fetched = content.fetched[wholeCount...]
        let last = fetched.last { $0.contains("flac/") }
        let lead = fetched.first { $0.contains("aac/") && !$0.hasSuffix("init.mp4") }
        #expect(last?.split(separator: "/").last == lead?.split(separator: "/").last, "\(fetched)")
    }
}
