import Manifests
import Media
import Network
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Fetching
@testable import Playback
@testable import Player
@testable import Streaming

@Suite("A live playlist that goes on for days (docs/playback.md, 15.12)")
struct LongLivePlaylistTests {
    private static let address = "https://content/live.m3u8"

    private let network = ScriptedNetwork()
    private let requests: ServiceRequests
    private let live: LivePlaylist

    /// It begins with segment 107.
    init() throws {
        requests = ServiceRequests(
            network: network, purpose: .playback, cancellation: try Cancellation(), medium: MediumAccess())
        let playlist = try MediaPlaylist(Self.text(100..<110), url: Self.address)
        live = LivePlaylist(
            playlist.segments, .playlist, interval: 2, delay: 6, url: Self.address, requests, clock: ManualClock())
    }

    private static func text(_ range: Range<Int>, isOver: Bool = false) -> [UInt8] {
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:\(range.lowerBound)\n"
        for number in range { text += "#EXTINF:2,\n\(number).aac\n" }
        return Array((text + (isOver ? "#EXT-X-ENDLIST\n" : "")).utf8)
    }

    private func load(_ range: Range<Int>, isOver: Bool = false) throws {
        network.server = { $0.answer(200, [], Self.text(range, isOver: isOver)) }
        live.whenLoaded {}
        network.passDelays()
        try live.poll()
    }

    @Test("It does not end, keeps the latest segments, and numbers and times stay as they were")
    func proceeds() throws {
        let start = try #require(live.part(0).timeline.start(of: 107))
        try load(108..<6000)
        try load(5000..<12_000)
        #expect(!live.isComplete)
        let first = 12_000 - LivePlaylist.mostSegments
        #expect(live.isGone(first - 1) && live.segment(first - 1) == nil)
        #expect(!live.isGone(first) && live.segment(first)?.resource.url == "https://content/\(first).aac")
        #expect(live.segment(11_999)?.resource.url == "https://content/11999.aac")
        let timeline = live.part(0).timeline
        #expect(timeline.firstIndex == 107)
        for index in [107, 1000, first, 11_999] {
            let place = Double(index - 107) * 2
            #expect(timeline.start(of: index).map { abs($0 - start - place) < 1e-6 } ?? false, "\(index)")
            #expect(timeline.index(at: start + place + 1) == index)
        }
        try load(11_000..<12_005, isOver: true)
        #expect(live.isComplete && live.segment(12_004) != nil)
        #expect(live.part(0).timeline.duration.map { abs($0 - Double(12_005 - 107) * 2) < 1e-6 } ?? false)
    }

    @Test("Segments that were not played yet stay, however much comes at once")
    func muchAtOnce() throws {
        try load(105..<25_000)
        #expect(live.segment(110) != nil && live.segment(24_999) != nil)
        try load(24_000..<25_001)
        #expect(live.segment(24_999) != nil && live.segment(25_000) != nil)
        #expect(live.isGone(25_000 - LivePlaylist.mostSegments))
    }

    @Test("Segments that are gone cannot be sought: the error leads to a new session")
    func gone() throws {
        try load(108..<6000)
        try load(5000..<12_000)
        let segments = LiveSegments(
            live.part(0), .init(network: network, medium: requests.medium, throughput: nil, readAhead: 1 << 20),
            LiveRetries(targetDuration: 2, clock: ManualClock()),
            StreamedKeys(requests, licenseURL: nil, provider: nil))
        #expect { _ = try segments.segment(500) } throws: { error in
            (error as? ByteSourceError).map { MediaError.source($0).isWorthRestarting } ?? false
        }
        #expect(try segments.segment(11_999) != nil)
    }
}
