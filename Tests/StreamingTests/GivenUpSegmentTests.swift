import Foundation
import Media
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Playback
@testable import Player
@testable import Fetching

@Suite("A segment whose transfer is given up (docs/playback.md, 15.11)", StreamTool.needed)
struct GivenUpSegmentTests {
    private let content: PackagedContent
    private let track: Track
    /// Two lossless representations of one recording.
    private let manifest: String

    init() throws {
        content = try PackagedContent()
        track = try Track("a", frames: 160_001, in: content.folder)
        for (name, size) in [("low", "1152"), ("high", "2304")] {
            try content.encode(track, to: "\(name).mp4", ["-c:a", "flac", "-strict", "-2", "-frame_size", size])
        }
        manifest = try content.package(["low.mp4", "high.mp4"], ["--segment_duration", "1"])
            .components(separatedBy: "<Representation").map { part in
                let value = part.contains("\"low/") ? "10000" : "1000000"
                return part.replacing(/bandwidth="\d+"/, with: "bandwidth=\"\(value)\"")
            }.joined(separator: "<Representation")
        content.throughput.add(bytes: 1 << 20, nanoseconds: 8_388_608)
    }

    @Test(
        "A segment that arrives too late is given up inside of it: another representation continues at the next frame",
        arguments: [(1, 0.1), (3, 0.5), (5, 0.9)])
    func givenUp(number: Int, share: Double) throws {
        let answer = content.service.content
        content.service.content = { [folder = content.folder, clock = content.clock] count, transfer in
            let url = transfer.request.url
            guard url.hasSuffix("high/\(number).m4s"), let bytes = PackagedContent.bytes(at: url, in: folder) else {
                return answer(count, transfer)
            }
            // The rest never arrives.
            transfer.begin(200, [("Content-Length", "\(bytes.count)")])
            let end = Int(Double(bytes.count) * share)
            for place in stride(from: 0, to: end, by: 1000) {
                clock.advance(by: 2_000_000_000)
                transfer.deliver(Array(bytes[place..<min(end, place + 1000)]))
            }
        }
        let opened = try content.source(manifest).open(
            PackagedContent.product, session: PlaybackSession(), cancellation: try Cancellation(),
            medium: MediumAccess())
        var samples: [Int32] = []
        var isOver = false
        for _ in 0..<1000 where !isOver {
            let more = try opened.decoder.decodeArrived()
            samples += more.samples
            isOver = more.isOver
            if !isOver { opened.fetching?.fetchAhead() }
        }
        let isEqual = samples == track.samples
        #expect(isEqual, "\(samples.count) samples instead of \(track.samples.count)")
        #expect(content.fetched.contains { $0.hasSuffix("low/\(number).m4s") })
        #expect(content.service.playbackinfoRequests.count == 1)
    }
}
