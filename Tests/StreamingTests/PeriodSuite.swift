import Foundation
import Media
import PCM
import PlayerTestSupport
import TestSupport
import Testing

@testable import Playback
@testable import Player

/// Two recordings of the same format, and the service that serves content made from them.
struct TwoRecordings {
    let content: PackagedContent
    let one: Track
    let two: Track

    init() throws {
        content = try PackagedContent()
        one = try Track("one", frames: 100_003, rate: 16_000, in: content.folder)
        two = try Track("two", frames: 50_001, rate: 16_000, in: content.folder)
    }
}

/// Fixtures of the suites about content in several parts.
protocol PeriodSuite {
    var recordings: TwoRecordings { get }
}

extension PeriodSuite {
    var content: PackagedContent { recordings.content }
    var one: Track { recordings.one }
    var two: Track { recordings.two }

    /// - Parameter isExact: whether the manifest's durations are, so that a seek before the first pass is, too.
    func expect(
        _ manifest: String, type: String = "application/dash+xml", isExact: Bool = true, plays samples: [Int32]
    ) throws {
        try expect({ try content.open(manifest, type: type) }, isExact: isExact, plays: samples)
        let offline = try keep(manifest, type: type)
        try expect({ try offline.open(7) }, isExact: isExact, plays: samples)
    }

    func keep(_ manifest: String, type: String = "application/dash+xml") throws -> OfflineFixture {
        _ = content.source(manifest, type: type)
        let offline = try OfflineFixture(network: content.service.network)
        do { try offline.keep(7) } catch { throw Unexpected("\(String(describing: offline.status(of: 7)))") }
        return offline
    }

    private func expect(
        _ open: () throws -> any AudioDecoder, isExact: Bool, plays samples: [Int32]
    ) throws {
        let decoder = try open()
        if isExact { #expect(decoder.properties.frameCount.map { Int($0) * 2 } == samples.count) }
        let played = try decoder.decodeRest()
        // Not in the expectation: the difference of two long arrays takes minutes.
        let isEqual = played.samples == samples
        #expect(isEqual, "\(played.samples.count) samples instead of \(samples.count)")
        #expect(played.formats.isEmpty)
        #expect(decoder.damage.isEmpty)
        let frames = samples.count / 2
        let last = isExact ? frames - 1 : frames - 1000
        for place in [last, 0, 40_000, 120_000, 31_999, 99_999, 60_000] where place < frames {
            try decoder.seek(toFrame: Int64(place))
            let end = min(frames, place + 20_000)
            let heard = try decoder.decodeRest(frames: 20_000).samples
            let isEqual = heard == Array(samples[(place * 2)..<(end * 2)])
            #expect(isEqual, "\(place)")
        }
        #expect(decoder.properties.frameCount.map { Int($0) * 2 } == samples.count)
        // Where the parts begin is known from the manifest as well.
        guard isExact else { return }
        let another = try open()
        let late = frames - 5000
        try another.seek(toFrame: Int64(late))
        #expect(try another.decodeRest().samples == Array(samples[(late * 2)...]))
    }
}
