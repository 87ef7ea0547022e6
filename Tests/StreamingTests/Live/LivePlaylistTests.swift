import Foundation
import Media
import Network
import PlayerTestSupport
import TestSupport
import Testing

@testable import Playback
@testable import Player

@Suite("Live playlists of HLS (docs/playback.md, 15.12)", StreamTool.needed)
struct LivePlaylistTests {
    private let content: PackagedContent
    private let track: Track
    /// The lines of each segment.
    private let segments: [String]
    private let head: String
    /// The starts in frames; the last one is the end.
    private let starts: [Int]

    init() throws {
        content = try PackagedContent()
        track = try Track("a", frames: 120_000, in: content.folder)
        try content.encode(track, to: "a.mp4")
        try content.package(["a.mp4"], ["--segment_duration", "1"])
        let lines = try content.text("a.m3u8").split(separator: "\n").map(String.init)
        segments = lines.indices.filter { lines[$0].hasPrefix("#EXTINF") }.map {
            lines[$0] + "\n" + lines[$0 + 1] + "\n"
        }
        head = try #require(lines.first { $0.hasPrefix("#EXT-X-MAP") }) + "\n"
        // The manifest of DASH has the exact durations.
        var frames = 0
        var starts = [0]
        for match in try content.text("out.mpd").matches(of: /<S t="(\d+)" d="(\d+)"(?: r="(\d+)")?/) {
            for _ in 0...(match.3.flatMap { Int($0) } ?? 0) {
                frames += Int(match.2) ?? 0
                starts.append(frames)
            }
        }
        self.starts = starts
        try #require(segments.count > 12 && starts.count == segments.count + 1)
    }

    /// Replaces the playlist on the server.
    private func publish(_ range: Range<Int>, number: Int? = nil, gaps: [Int] = [], isOver: Bool = false) throws {
        let number = number ?? range.lowerBound + 100
        let text =
            "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:\(number)\n"
            + head + range.map { (gaps.contains($0) ? "#EXT-X-GAP\n" : "") + segments[$0] }.joined()
            + (isOver ? "#EXT-X-ENDLIST\n" : "")
        try text.write(toFile: content.folder["live.m3u8"], atomically: true, encoding: .utf8)
    }

    private func open() throws -> any AudioDecoder {
        try content.open(
            #"{"mimeType": "application/vnd.apple.mpegurl", "urls": ["https://content/live.m3u8"]}"#,
            type: "application/vnd.tidal.emu")
    }

    private var reloads: Int { content.fetched.filter { $0.hasSuffix("live.m3u8") }.count - 1 }

    @Test("It begins three target durations before the end, goes on as the playlist grows, and ends with it")
    func proceeds() throws {
        try publish(0..<8)
        let decoder = try open()
        let begin = try #require(starts.indices.last { Double(starts[8] - starts[$0]) / 8000 > 6 }) + 1
        var heard = try decoder.decodeArrived()
        #expect(heard.samples == track.samples(starts[begin]..<starts[8]))
        #expect(!heard.isOver && reloads == 0)

        let woken = Recorder<Void>()
        func wait(_ milliseconds: Int64) {
            decoder.whenReadable { woken.record(()) }
            #expect(content.service.network.delays.filter { $0 > 0 } == [milliseconds])
            content.clock.advance(by: milliseconds * 1_000_000)
            content.service.network.passDelays()
        }
        try publish(2..<10)
        wait(2000)
        #expect(woken.elements.count == 1 && reloads == 1)
        heard = try decoder.decodeArrived()
        #expect(heard.samples == track.samples(starts[8]..<starts[10]))

        // No new segment: the next request comes sooner.
        wait(2000)
        heard = try decoder.decodeArrived()
        #expect(heard.samples.isEmpty && !heard.isOver)
        try publish(10..<segments.count, isOver: true)
        wait(1000)
        heard = try decoder.decodeArrived()
        #expect(heard.samples == track.samples(from: starts[10]) && heard.isOver)
        #expect(woken.elements.count == 3 && reloads == 3)

        // Played segments can be played again.
        try decoder.seek(toFrame: Int64(starts[9] - starts[begin]))
        #expect(try decoder.decodeArrived().samples == track.samples(from: starts[9]))
    }

    /// The first segment that is played, of those before `end`.
    private func begin(before end: Int) throws -> Int {
        try #require(starts.indices.last { Double(starts[end] - starts[$0]) / 8000 > 6 }) + 1
    }

    /// Cuts the playlist on the server after so many bytes of its last line, or in its middle.
    private func cut(_ bytes: Int?) throws {
        let text = try content.text("live.m3u8")
        let lastLine = text.dropLast().split(separator: "\n").last?.utf8.count ?? 0
        let count = bytes.map { text.utf8.count - 1 - lastLine + $0 } ?? text.utf8.count / 2
        try Data(text.utf8.prefix(count)).write(to: URL(fileURLWithPath: content.folder["live.m3u8"]))
    }

    @Test(
        "A playlist that is cut off at every third load loses nothing: in its middle, in an address, behind one",
        arguments: [nil, 1, 3, 7] as [Int?])
    func cutOff(bytes: Int?) throws {
        try publish(0..<8)
        let decoder = try open()
        let begin = try begin(before: 8)
        var heard = try decoder.decodeArrived().samples
        var isOver = false
        for end in 9...segments.count {
            for load in 0..<3 where !isOver {
                try publish((end - 8)..<end, isOver: end == segments.count && load > 0)
                if load == 0 { try cut(bytes) }
                decoder.whenReadable {}
                content.service.network.passDelays()
                let arrived = try decoder.decodeArrived()
                heard += arrived.samples
                isOver = arrived.isOver
            }
        }
        #expect(heard == track.samples(from: starts[begin]))
        #expect(isOver)
    }

    @Test("A playlist that is cut off inside its first address, before or among the known segments, is no other one")
    func cutOffEarly() throws {
        try publish(0..<8)
        let decoder = try open()
        func load() throws -> [Int32] {
            decoder.whenReadable {}
            content.service.network.passDelays()
            return try decoder.decodeArrived().samples
        }
        _ = try decoder.decodeArrived()
        for (first, next) in [(1, 8), (4, 9)] {
            try publish(first..<(first + 8))
            let text = try content.text("live.m3u8")
            let end = try #require(text.range(of: segments[first])).upperBound
            try String(text[..<end].dropLast(4)).write(
                toFile: content.folder["live.m3u8"], atomically: true, encoding: .utf8)
            #expect(try load().isEmpty)
            try publish(first..<(first + 8))
            let isContinued = try load() == track.samples(starts[next]..<starts[first + 8])
            #expect(isContinued)
        }
        #expect(content.service.playbackinfoRequests.count == 1)
    }

    @Test("A playlist whose last line never has an end is played, a load behind, to its end")
    func noLineEnd() throws {
        func publish(_ range: Range<Int>, isOver: Bool = false) throws {
            try self.publish(range, isOver: isOver)
            let text = try content.text("live.m3u8").dropLast()
            try text.write(toFile: content.folder["live.m3u8"], atomically: true, encoding: .utf8)
        }
        func load() throws -> [Int32] {
            decoder.whenReadable {}
            content.service.network.passDelays()
            return try decoder.decodeArrived().samples
        }
        try publish(0..<8)
        let decoder = try open()
        let begin = try begin(before: 7)
        #expect(try decoder.decodeArrived().samples == track.samples(starts[begin]..<starts[7]))
        try publish(1..<9)
        #expect(try load() == track.samples(starts[7]..<starts[8]))
        // The same again: it is whole.
        #expect(try load() == track.samples(starts[8]..<starts[9]))
        try publish(4..<segments.count, isOver: true)
        #expect(try load() == track.samples(from: starts[9]))
    }

    /// Has heard the first six segments, and gets the next ones.
    private func proceed(
        _ decoder: any AudioDecoder, _ range: Range<Int>, number: Int? = nil, gaps: [Int] = [], isOver: Bool = false
    ) throws {
        _ = try decoder.decodeArrived()
        try publish(range, number: number, gaps: gaps, isOver: isOver)
        decoder.whenReadable {}
        content.service.network.passDelays()
    }

    @Test("Gaps are passed over, and not asked for: at the beginning, between segments, and while nothing follows yet")
    func gaps() throws {
        let first = try begin(before: 8)
        try #require(first < 5)
        var gaps = [first, 6]
        for number in gaps + [9, 11] {
            try FileManager.default.removeItem(atPath: content.folder["a/\(number + 1).m4s"])
        }
        try publish(0..<8, gaps: gaps)
        let decoder = try open()
        var heard = try decoder.decodeArrived()
        #expect(
            heard.samples == track.samples(starts[first + 1]..<starts[6]) + track.samples(starts[7]..<starts[8]))
        gaps.append(9)
        try proceed(decoder, 2..<10, gaps: gaps)
        heard = try decoder.decodeArrived()
        #expect(heard.samples == track.samples(starts[8]..<starts[9]) && !heard.isOver)
        try proceed(decoder, 2..<11, gaps: gaps)
        heard = try decoder.decodeArrived()
        #expect(heard.samples == track.samples(starts[10]..<starts[11]) && !heard.isOver)
        try proceed(decoder, 10..<12, gaps: [11], isOver: true)
        heard = try decoder.decodeArrived()
        #expect(heard.samples.isEmpty && heard.isOver)
        #expect(content.service.playbackinfoRequests.count == 1)
        #expect(!content.fetched.contains { url in [first, 6, 9, 11].contains { url.hasSuffix("a/\($0 + 1).m4s") } })
    }

    @Test("A playlist that has gaps alone where it would begin, begins before them; one of gaps is refused")
    func gapsAtTheEnd() throws {
        try publish(0..<8, gaps: Array(2..<8))
        #expect(try open().decodeArrived().samples == track.samples(starts[1]..<starts[2]))
        try publish(0..<8, gaps: Array(0..<8))
        #expect { try open() } throws: { ($0 as? PlayerError)?.message.contains("a live playlist of gaps") ?? false }
    }

    @Test("A player that falls behind goes on in a new session, where the playlist is by then")
    func behind() throws {
        try publish(0..<6)
        let decoder = try open()
        try proceed(decoder, 7..<13)
        let heard = try decoder.decodeArrived()
        let first = max(7, try begin(before: 13))
        let isLater = heard.samples == track.samples(starts[first]..<starts[13])
        #expect(isLater && !heard.isOver)
        #expect(content.service.playbackinfoRequests.count == 2)
    }

    @Test("An encoder that counts from its beginning again goes on in a new session, where the playlist is by then")
    func begunAgain() throws {
        try publish(0..<6)
        let decoder = try open()
        try proceed(decoder, 7..<13, number: 0)
        var heard = try decoder.decodeArrived()
        let first = max(7, try begin(before: 13))
        let isLater = heard.samples == track.samples(starts[first]..<starts[13])
        #expect(isLater && !heard.isOver)
        #expect(content.service.playbackinfoRequests.count == 2)

        try publish(9..<segments.count, number: 2, isOver: true)
        decoder.whenReadable {}
        content.service.network.passDelays()
        heard = try decoder.decodeArrived()
        let isWhole = heard.samples == track.samples(from: starts[13])
        #expect(isWhole && heard.isOver)
    }

    @Test("A server that is late for a while is waited for, and one that stays behind has begun again")
    func late() throws {
        try publish(0..<6)
        let decoder = try open()
        for _ in 0..<3 {
            try proceed(decoder, 0..<5)
            let heard = try decoder.decodeArrived()
            #expect(heard.samples.isEmpty && !heard.isOver)
        }
        try proceed(decoder, 2..<8)
        var heard = try decoder.decodeArrived()
        let isContinued = heard.samples == track.samples(starts[6]..<starts[8])
        #expect(isContinued && content.service.playbackinfoRequests.count == 1)

        for _ in 0..<3 { try proceed(decoder, 0..<7) }
        #expect(try decoder.decodeArrived().samples.isEmpty)
        try proceed(decoder, 0..<7)
        heard = try decoder.decodeArrived()
        let first = try begin(before: 7)
        let isAgain = heard.samples == track.samples(starts[first]..<starts[7])
        #expect(isAgain && content.service.playbackinfoRequests.count == 2)
    }

    @Test("Segments that are refused one after the other are a new session, whose segments play")
    func refusedSegments() throws {
        try publish(0..<4)
        let decoder = try open()
        let first = try begin(before: segments.count)
        try #require(first == 9)
        for number in 5...first { try FileManager.default.removeItem(atPath: content.folder["a/\(number).m4s"]) }
        try proceed(decoder, 4..<segments.count)
        var samples: [Int32] = []
        for _ in 0..<40 where content.service.playbackinfoRequests.count < 2 {
            samples += try decoder.decodeArrived().samples
            decoder.whenReadable {}
            content.service.network.passDelays()
        }
        samples += try decoder.decodeArrived().samples
        let isLater = samples == track.samples(from: starts[first])
        #expect(isLater)
        let sessions = content.service.playbackinfoRequests.map { request in
            request.headers.first { $0.isNamed("x-tidal-streamingsessionid") }?.value
        }
        #expect(sessions.count == 2 && Set(sessions).count == 2)

        // The new session continues like the first one.
        try publish(8..<segments.count, isOver: true)
        decoder.whenReadable {}
        content.service.network.passDelays()
        let heard = try decoder.decodeArrived()
        #expect(heard.samples.isEmpty && heard.isOver)
    }

    @Test("A live playlist without an address is refused by name")
    func refused() throws {
        try publish(0..<6)
        let text = try content.text("live.m3u8")
        #expect { try content.open(text, type: "application/vnd.apple.mpegurl") } throws: { error in
            (error as? PlayerError)?.message.contains("live content") ?? false
        }
    }
}
