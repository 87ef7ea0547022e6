import Foundation
import Media
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Playback
@testable import Player

@Suite("Live manifests of DASH (docs/playback.md, 15.12)", StreamTool.needed)
struct LiveManifestTests {
    /// How a manifest names its segments.
    enum Naming: CaseIterable { case numbers, times }

    private let content: PackagedContent
    private let track: Track
    /// The starts in frames; the last one is the end.
    private let starts: [Int]

    private var count: Int { starts.count - 1 }

    init() throws {
        content = try PackagedContent()
        track = try Track("a", frames: 120_000, in: content.folder)
        try content.encode(track, to: "a.mp4")
        let manifest = try content.package(["a.mp4"], ["--segment_duration", "1"])
        var frames = 0
        var starts = [0]
        for match in manifest.matches(of: /<S t="(\d+)" d="(\d+)"(?: r="(\d+)")?/) {
            for _ in 0...(match.3.flatMap { Int($0) } ?? 0) {
                frames += Int(match.2) ?? 0
                starts.append(frames)
            }
        }
        self.starts = starts
        try #require(starts.count > 13)
        // The same segments by their times.
        for place in 0..<(starts.count - 1) {
            try FileManager.default.copyItem(
                atPath: content.folder["a/\(place + 1).m4s"], toPath: content.folder["a/at-\(starts[place]).m4s"])
        }
    }

    /// The manifest on the server.
    private func text(
        _ range: Range<Int>, _ naming: Naming, isOver: Bool = false, delay: Bool = true, location: Bool = true,
        isListed: Bool = true
    ) -> String {
        let kind =
            isOver
            ? "type=\"static\""
            : "type=\"dynamic\" availabilityStartTime=\"2026-01-01T00:00:00Z\" minimumUpdatePeriod=\"PT2S\""
                + (delay ? " suggestedPresentationDelay=\"PT6S\"" : "")
        // Without numbers in the addresses they are counted from 1 each time.
        let media =
            naming == .numbers
            ? "media=\"a/$Number$.m4s\" startNumber=\"\(range.lowerBound + 1)\"" : "media=\"a/at-$Time$.m4s\""
        let entries = range.map { "<S t=\"\(starts[$0])\" d=\"\(starts[$0 + 1] - starts[$0])\"/>" }.joined()
        let timeline = isListed ? "<SegmentTimeline>\(entries)</SegmentTimeline>" : ""
        let duration = isListed ? "" : "duration=\"8000\""
        let address = location ? "<Location>https://content/live.mpd</Location>" : ""
        return """
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" \(kind)>
            \(address)<BaseURL>https://content/</BaseURL>
            <Period id="p" start="PT0S"><AdaptationSet contentType="audio" mimeType="audio/mp4">
            <Representation id="r" bandwidth="300000" codecs="flac" audioSamplingRate="8000">
            <SegmentTemplate timescale="8000" initialization="a/init.mp4" \(media) \(duration)>
            \(timeline)</SegmentTemplate>
            </Representation></AdaptationSet></Period></MPD>
            """
    }

    private func publish(_ text: String) throws {
        try text.write(toFile: content.folder["live.mpd"], atomically: true, encoding: .utf8)
    }

    /// Lets the time pass after which the manifest is loaded again.
    private func reload(_ decoder: any AudioDecoder, after milliseconds: Int64) {
        decoder.whenReadable {}
        #expect(content.service.network.delays.filter { $0 > 0 } == [milliseconds])
        content.clock.advance(by: milliseconds * 1_000_000)
        content.service.network.passDelays()
    }

    private var reloads: Int { content.fetched.filter { $0.hasSuffix("live.mpd") }.count }

    /// The first segment that is played, of those before `end`.
    private func begin(before end: Int, seconds: Double = 6) throws -> Int {
        try #require(starts.indices.last { Double(starts[end] - starts[$0]) / 8000 > seconds }) + 1
    }

    @Test(
        "It begins a while before its end, goes on as it grows, and ends when it is static",
        arguments: Naming.allCases)
    func proceeds(naming: Naming) throws {
        let decoder = try content.open(text(0..<8, naming))
        var heard = try decoder.decodeArrived()
        let first = try begin(before: 8)
        let isBegun = heard.samples == track.samples(starts[first]..<starts[8])
        #expect(isBegun && !heard.isOver && reloads == 0)

        try publish(text(3..<10, naming))
        reload(decoder, after: 2000)
        heard = try decoder.decodeArrived()
        let isContinued = heard.samples == track.samples(starts[8]..<starts[10])
        #expect(isContinued && !heard.isOver && reloads == 1)

        // No new segment: the next request comes sooner.
        reload(decoder, after: 2000)
        heard = try decoder.decodeArrived()
        #expect(heard.samples.isEmpty && !heard.isOver && reloads == 2)

        try publish(text(6..<count, naming, isOver: true))
        reload(decoder, after: 1000)
        heard = try decoder.decodeArrived()
        let isWhole = heard.samples == track.samples(from: starts[10])
        #expect(isWhole && heard.isOver && reloads == 3)
        #expect(content.service.playbackinfoRequests.count == 1)

        // Played segments can be played again.
        try decoder.seek(toFrame: Int64(starts[9] - starts[first]))
        let again = try decoder.decodeArrived().samples == track.samples(from: starts[9])
        #expect(again)
    }

    @Test("Of two base URLs the second one has the manifest and the segments when the first fails")
    func baseURLs() throws {
        let isBroken = Locked(false)
        content.service.content = { [folder = content.folder] _, transfer in
            let url = transfer.request.url
            if url.hasPrefix("https://first/"), isBroken.value { return transfer.answer(503) }
            let name = String(url.dropFirst(url.hasPrefix("https://first/") ? 14 : 16))
            guard let bytes = PackagedContent.bytes(at: name, in: folder) else { return transfer.answer(404) }
            LiveAnswer.serve(bytes, to: transfer)
        }
        func mirrored(_ text: String) -> String {
            text.replacingOccurrences(
                of: "https://content/live.mpd</Location>",
                with: "https://first/live.mpd</Location><BaseURL>https://first/</BaseURL>")
        }
        let decoder = try content.open(mirrored(text(0..<8, .numbers)))
        let begun = try decoder.decodeArrived().samples
        let isBegun = try begun == track.samples(starts[begin(before: 8)]..<starts[8])
        #expect(isBegun && content.fetched.allSatisfy { $0.hasPrefix("https://first/") })
        isBroken.set(true)
        try publish(mirrored(text(3..<10, .numbers)))
        reload(decoder, after: 2000)
        let isContinued = try decoder.decodeArrived().samples == track.samples(starts[8]..<starts[10])
        #expect(isContinued && content.service.playbackinfoRequests.count == 1)
    }

    @Test("Times that go back are an encoder that has begun again: a new session", arguments: Naming.allCases)
    func begunAgain(naming: Naming) throws {
        let decoder = try content.open(text(0..<8, naming))
        _ = try decoder.decodeArrived()
        let again = text(0..<2, naming)
        _ = content.source(again)
        try publish(again)
        reload(decoder, after: 2000)
        let heard = try decoder.decodeArrived()
        let isBegun = heard.samples == track.samples(0..<starts[2])
        #expect(isBegun && !heard.isOver)
        #expect(content.service.playbackinfoRequests.count == 2)
    }

    @Test("Without a delay it begins three of its longest segments before its end")
    func delay() throws {
        let longest = (0..<8).map { starts[$0 + 1] - starts[$0] }.max() ?? 0
        let decoder = try content.open(text(0..<8, .numbers, delay: false))
        let heard = try decoder.decodeArrived()
        let first = try begin(before: 8, seconds: Double(longest * 3) / 8000)
        let isBegun = heard.samples == track.samples(starts[first]..<starts[8])
        #expect(isBegun)
    }

    @Test("Live manifests that cannot be followed are refused by name")
    func refused() throws {
        let kinds = [
            text(0..<8, .numbers, location: false), text(0..<8, .numbers, isListed: false),
            text(0..<8, .numbers).replacingOccurrences(of: " minimumUpdatePeriod=\"PT2S\"", with: ""),
        ]
        for manifest in kinds {
            #expect { try content.open(manifest) } throws: { error in
                (error as? PlayerError)?.message.contains("live content") ?? false
            }
        }
    }
}
