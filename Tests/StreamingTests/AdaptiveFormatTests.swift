import Foundation
import Media
import PCM
import PlayerTestSupport
import TestSupport
import Testing

@testable import Playback
@testable import Player
@testable import Fetching

@Suite("Representations with other rates and channels (docs/playback.md, 15.11)", StreamTool.needed)
struct AdaptiveFormatTests {
    private let content: PackagedContent

    init() throws { content = try PackagedContent.onFastLine() }
    /// Two representations with different sample rates. Every sample shows from which one it is.
    private func ofTwoRates(_ high: Track, _ low: Track) throws -> String {
        try content.encode(high, to: "high.mp4")
        try content.encode(low, to: "low.mp4")
        let sets = try ["high", "low"].map { name in
            let manifest = PackagedContent.bandwidths(
                try content.package(["\(name).mp4"], ["--segment_duration", "1"]))
            let parts = manifest.components(separatedBy: "<Representation")
            let representation = parts[1].components(separatedBy: "</Representation>")[0]
            let named = representation.replacing(/id="\d+"/, with: "id=\"\(name)\"", maxReplacements: 1)
            return (head: parts[0], text: "<Representation" + named + "</Representation>")
        }
        return sets[0].head + sets[1].text + sets[0].text + "</AdaptationSet></Period></MPD>"
    }

    /// The frame of another rate that is played at the same time.
    private func frame(_ frame: Int, of one: Track, in other: Track) -> Int {
        Int((Double(frame) * Double(other.format.sampleRate) / Double(one.format.sampleRate)).rounded())
    }

    @Test("Representations with other rates follow the line, too: the format is announced, and the time goes on")
    func otherRates() throws {
        let high = try Track("high", frames: 960_000, rate: 16_000, in: content.folder)
        let low = try Track("low", frames: 661_500, rate: 11_025, in: content.folder)
        let manifest = try ofTwoRates(high, low)
        content.serve(fastFrom: 12)
        let decoder = try content.open(manifest)
        let played = try decoder.decodeRest()
        #expect(played.formats == [low.format, high.format] && decoder.damage.isEmpty)
        try #require(played.changes.map { $0.bitRate } == [100_000, 1_000_000])
        let (down, up) = (played.changes[0].frame, played.changes[1].frame)
        let begin = frame(down, of: high, in: low)
        let end = begin + up - down
        let isEqual =
            played.samples
            == high.samples(0..<down) + low.samples(begin..<end) + high.samples(from: frame(end, of: low, in: high))
        #expect(isEqual, "\(played.samples.count) samples, changed at \(down) and \(up)")
        #expect(decoder.properties.format == high.format && decoder.properties.frameCount == 960_000)
        for place in [800_000, 0, 200_000] {
            try decoder.seek(toFrame: Int64(place))
            let again = try decoder.decodeRest(frames: 30_000)
            let isThere = again.samples == high.samples(place..<place + 30_000)
            #expect(isThere && again.formats.isEmpty, "\(place)")
        }
    }

    @Test("A seek counts in frames of the first representation, whichever is the present one")
    func seekInOtherRate() throws {
        let high = try Track("high", frames: 960_000, rate: 16_000, in: content.folder)
        let low = try Track("low", frames: 661_500, rate: 11_025, in: content.folder)
        let manifest = try ofTwoRates(high, low)
        content.serve { _ in 300_000 }
        let decoder = try content.open(manifest)
        let played = try decoder.decodeRest()
        #expect(played.formats == [low.format])
        for place in [800_001, 0, 200_003] {
            try decoder.seek(toFrame: Int64(place))
            let again = try decoder.decodeRest(frames: 30_000)
            let target = frame(place, of: high, in: low)
            let isThere = again.samples == low.samples(target..<target + 30_000)
            #expect(isThere && again.formats.isEmpty, "\(place)")
        }
    }

    @Test("A representation with another channel count follows, too")
    func otherChannels() throws {
        let high = try Track("high", frames: 480_000, in: content.folder)
        let low = try Track("low", frames: 480_000, channels: 1, in: content.folder)
        let manifest = try ofTwoRates(high, low)
        content.serve { _ in 300_000 }
        let played = try content.open(manifest).decodeRest()
        #expect(played.formats == [low.format])
        let boundary = try #require(played.changes.first?.frame)
        let isEqual = played.samples == high.samples(0..<boundary) + low.samples(from: boundary)
        #expect(isEqual)
    }

    @Test("A new session begins with another representation of another rate, and goes on where the first one was")
    func restartInOtherRate() throws {
        let high = try Track("high", frames: 480_000, rate: 16_000, in: content.folder)
        let low = try Track("low", frames: 330_750, rate: 11_025, in: content.folder)
        let manifest = try ofTwoRates(high, low)
        content.serve { _ in 300_000 }
        let decoder = try content.open(manifest)
        let before = try decoder.decodeRest(frames: 1000)
        #expect(before.samples == high.samples(0..<1000))
        // The next segment is refused once.
        let answer = content.service.content
        let isRefused = Locked(false)
        content.service.content = { count, transfer in
            guard !isRefused.value, transfer.request.url.hasSuffix("low/20.m4s") else { return answer(count, transfer) }
            isRefused.set(true)
            transfer.answer(403)
        }
        let rest = try decoder.decodeRest()
        #expect(isRefused.value && content.service.playbackinfoRequests.count == 2)
        #expect(rest.formats == [low.format])
        let tail = low.samples(from: 200_000)
        let isWhole = Array(rest.samples.suffix(tail.count)) == tail
        #expect(isWhole)
        try decoder.seek(toFrame: 240_000)
        let again = try decoder.decodeRest(frames: 5000).samples == low.samples(165_375..<170_375)
        #expect(again && decoder.properties.format == high.format && decoder.properties.frameCount == 480_000)
    }

    /// Plays until the second representation is heard.
    /// - Returns: the player, and the number of frames that were heard.
    private func heardPastChange(
        _ manifest: String, from high: Track, to low: Track
    ) throws -> (fixture: PlayerFixture, heard: Int) {
        let fixture = try PlayerFixture(source: content.source(manifest))
        try fixture.play(PackagedContent.product)
        #expect(fixture.engine.playbackContext?.audioSampleRate == high.format.sampleRate)
        let step = high.format.sampleRate / 20
        var heard = 0
        func hear() throws {
            try fixture.hear(step)
            heard += step
        }
        while fixture.card.recordings.count < 2, heard < high.frames { try hear() }
        try hear()
        try fixture.log.wait("the new rate") { $0.contains { $0.line == "quality \(low.format.sampleRate)/16" } }
        return (fixture, heard)
    }

    @Test("Another rate is heard: the device plays what it has and is opened again, and the position continues")
    func drained() throws {
        let high = try Track("high", frames: 960_000, rate: 96_000, in: content.folder)
        let low = try Track("low", frames: 441_000, rate: 44_100, in: content.folder)
        let manifest = try ofTwoRates(high, low)
        content.serve { _ in 300_000 }
        let (fixture, heard) = try heardPastChange(manifest, from: high, to: low)
        let recordings = fixture.card.recordings
        try #require(recordings.map { $0.configuration.sampleRate } == [96_000, 44_100])
        let boundary = recordings[0].frames
        let position = Double(boundary) / 96_000 + Double(heard - boundary) / 44_100
        try fixture.spin("the position") {
            fixture.engine.assetPosition.map { abs($0 - position) < 1e-6 } ?? false
        }
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        let isFirst = fixture.card.recordings[0].samples == high.samples(0..<boundary)
        let isSecond = fixture.card.recordings[1].samples == low.samples(from: frame(boundary, of: high, in: low))
        #expect(isFirst && isSecond, "\(boundary) and \(fixture.card.recordings[1].frames) frames")
        #expect(!fixture.messages.contains { $0.hasPrefix("error") })
    }

    @Test("A rate that the device does not have: that representation is not used, and the present one is heard whole")
    func rateThatTheDeviceLacks() throws {
        let high = try Track("high", frames: 441_000, rate: 44_100, in: content.folder)
        let low = try Track("low", frames: 110_250, rate: 11_025, in: content.folder)
        let manifest = try ofTwoRates(high, low)
        // Slow after the ring is full: the device is open when the other representation would follow.
        content.serve { $0 < 8 ? 50_000_000 : 300_000 }
        let fixture = try PlayerFixture(source: content.source(manifest))
        fixture.card.support([.s16], rates: [44_100, 48_000])
        try fixture.play(PackagedContent.product)
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        let isWhole = fixture.card.recordings.map { $0.samples } == [high.samples]
        #expect(isWhole && !fixture.messages.contains { $0.hasPrefix("error") || $0.hasPrefix("quality") })
        // It was tried once.
        #expect(content.fetched.filter { $0.hasSuffix("low/init.mp4") }.count == 1)
        // The next one does not begin with it, although the line has carried no more.
        fixture.engine.load(PackagedContent.product)
        fixture.engine.play()
        try fixture.log.wait("the end") { $0.count { $0 == .playbackStateChanged(.idle) } == 2 }
        let isAgain = fixture.card.recordings.map { $0.samples } == [high.samples, high.samples]
        #expect(isAgain && !fixture.messages.contains { $0.hasPrefix("error") || $0.hasPrefix("quality") })
    }

    @Test("A seek in a representation of another rate is heard at that rate, and the context has it")
    func contextAfterSeek() throws {
        let high = try Track("high", frames: 480_000, rate: 16_000, in: content.folder)
        let low = try Track("low", frames: 330_750, rate: 11_025, in: content.folder)
        let manifest = try ofTwoRates(high, low)
        content.serve { _ in 300_000 }
        let (fixture, _) = try heardPastChange(manifest, from: high, to: low)
        fixture.engine.seek(20)
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        let messages = fixture.messages
        #expect(!messages.contains("quality 16000/16") && !messages.contains { $0.hasPrefix("error") })
        let last = try #require(fixture.card.recordings.last)
        let tail = low.samples(from: 220_500)
        let isThere = Array(last.samples.suffix(tail.count)) == tail
        #expect(isThere && last.configuration.sampleRate == 11_025)
    }
}
