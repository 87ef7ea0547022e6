import Crypto
import Foundation
import Media
import Network
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Player

@Suite("Live content whose answers are missing, late or wrong (docs/playback.md, 15.12)", StreamTool.needed)
struct LiveLossTests {
    private let content: PackagedContent
    private let track: Track
    /// The lines of each segment.
    private let segments: [String]
    private let map: String
    /// The starts in frames; the last one is the end.
    private let starts: [Int]
    /// The answer instead of each file, and how often it is sent.
    private let faults = Locked<[String: (answer: LiveAnswer, left: Int)]>([:])

    init() throws {
        content = try PackagedContent()
        track = try Track("a", frames: 120_000, in: content.folder)
        try content.encode(track, to: "a.mp4")
        let manifest = try content.package(["a.mp4"], ["--segment_duration", "1"])
        let lines = try content.text("a.m3u8").split(separator: "\n").map(String.init)
        segments = lines.indices.filter { lines[$0].hasPrefix("#EXTINF") }.map {
            lines[$0] + "\n" + lines[$0 + 1] + "\n"
        }
        map = try #require(lines.first { $0.hasPrefix("#EXT-X-MAP") }) + "\n"
        var frames = 0
        var starts = [0]
        for match in manifest.matches(of: /<S t="(\d+)" d="(\d+)"(?: r="(\d+)")?/) {
            for _ in 0...(match.3.flatMap { Int($0) } ?? 0) {
                frames += Int(match.2) ?? 0
                starts.append(frames)
            }
        }
        self.starts = starts
        try #require(segments.count > 12 && starts.count == segments.count + 1)
        content.service.content = { [faults, folder = content.folder] _, transfer in
            let url = transfer.request.url
            guard let bytes = PackagedContent.bytes(at: url, in: folder) else { return transfer.answer(404) }
            let fault = faults.withLock { faults -> LiveAnswer? in
                guard let name = faults.keys.first(where: { url.hasSuffix($0) }), let fault = faults[name],
                    fault.left > 0
                else { return nil }
                faults[name]?.left -= 1
                return fault.answer
            }
            if let fault { return fault.send(to: transfer, instead: bytes) }
            LiveAnswer.serve(bytes, to: transfer)
        }
    }

    private func fail(_ name: String, _ answer: LiveAnswer, times: Int = .max) {
        faults.withLock { $0[name] = (answer, times) }
    }

    /// Replaces the playlist on the server.
    private func publish(_ lines: String, number: Int = 0, isOver: Bool = false) throws {
        let text =
            "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:\(number)\n" + lines
            + (isOver ? "#EXT-X-ENDLIST\n" : "")
        try text.write(toFile: content.folder["live.m3u8"], atomically: true, encoding: .utf8)
    }

    private func publish(_ range: Range<Int>, isOver: Bool = false) throws {
        try publish(map + segments[range].joined(), number: range.lowerBound, isOver: isOver)
    }

    private func open() throws -> any AudioDecoder {
        try content.open(
            #"{"mimeType": "application/vnd.apple.mpegurl", "urls": ["https://content/live.m3u8"]}"#,
            type: "application/vnd.tidal.emu")
    }

    /// Holds the value that another thread opens.
    // @unchecked: read after it was set.
    private final class Opened: @unchecked Sendable {
        let isDone = Locked(false)
        var result: Result<any AudioDecoder, any Error>?
    }

    /// Opening waits, so time passes on another thread.
    private func openWhileTimePasses() throws -> any AudioDecoder {
        let opened = Opened()
        let work = Opening { opened.result = Result { try open() } }
        Thread {
            work.run()
            opened.isDone.set(true)
        }.start()
        try waitUntil("the stream is open") {
            content.clock.advance(by: 1_000_000_000)
            content.service.network.passDelays()
            return opened.isDone.value
        }
        return try #require(opened.result).get()
    }

    /// The work of another thread.
    // @unchecked: run once, while the test waits for it.
    private final class Opening: @unchecked Sendable {
        let run: () -> Void
        init(_ run: @escaping () -> Void) { self.run = run }
    }

    /// The samples that are heard while so many seconds pass.
    private func hear(_ decoder: any AudioDecoder, seconds: Int) throws -> (samples: [Int32], isOver: Bool) {
        var heard = try decoder.decodeArrived()
        for _ in 0..<seconds where !heard.isOver {
            decoder.whenReadable {}
            content.clock.advance(by: 1_000_000_000)
            content.service.network.passDelays()
            let more = try decoder.decodeArrived()
            heard = (heard.samples + more.samples, more.isOver)
        }
        return heard
    }

    /// The first segment that is played, of those before `end`.
    private func begin(before end: Int) throws -> Int {
        try #require(starts.indices.last { Double(starts[end] - starts[$0]) / 8000 > 6 }) + 1
    }

    private func samples(_ range: Range<Int>) -> [Int32] {
        track.samples(starts[range.lowerBound]..<starts[range.upperBound])
    }

    private func expect(_ heard: [Int32], _ expected: [Int32], _ comment: Comment? = nil) {
        // Not in the expectation: the difference of two long arrays takes minutes.
        let isEqual = heard == expected
        #expect(isEqual, comment ?? "\(heard.count) samples instead of \(expected.count)")
    }

    private var sessions: Int { content.service.playbackinfoRequests.count }

    @Test("A segment that is late is waited for, and nothing is missing")
    func late() throws {
        for answer in LiveAnswer.allCases {
            try publish(0..<8)
            fail("a/7.m4s", answer, times: 3)
            let before = sessions
            let decoder = try open()
            expect(try hear(decoder, seconds: 4).samples, samples(try begin(before: 8)..<8), "\(answer)")
            #expect(sessions == before + 1, "\(answer)")
        }
    }

    @Test("A segment that never comes is left out: the first one, between others, and the last one")
    func missing() throws {
        for answer in LiveAnswer.allCases {
            faults.set([:])
            try publish(0..<8)
            var first = try begin(before: 8)
            // With the other answers, no sample is heard before they fail.
            let isHeard = answer == .cut || answer == .cutWithoutLength
            for number in (isHeard ? [] : [first]) + [6, 7] { fail("a/\(number + 1).m4s", answer) }
            if !isHeard { first += 1 }
            let before = sessions
            let decoder = try openWhileTimePasses()
            expect(try hear(decoder, seconds: 10).samples, samples(first..<6), "\(answer)")
            try publish(4..<10)
            expect(try hear(decoder, seconds: 4).samples, samples(8..<10), "\(answer)")
            try publish(7..<segments.count, isOver: true)
            let rest = try hear(decoder, seconds: 4)
            expect(rest.samples, samples(10..<segments.count), "\(answer)")
            #expect(rest.isOver && sessions == before + 1, "\(answer)")
            // It can be played again, without the missing segments.
            try decoder.seek(toFrame: Int64(starts[6] - starts[first]))
            expect(try decoder.decodeArrived().samples, samples(8..<segments.count), "\(answer)")
        }
    }

    @Test("A segment that is something else is left out", arguments: [false, true])
    func garbage(isCut: Bool) throws {
        let bytes = try #require(PackagedContent.bytes(at: "a/7.m4s", in: content.folder))
        let other = isCut ? Array(bytes.dropLast(20)) : (0..<5000).map { UInt8(truncatingIfNeeded: 0x80 + $0 % 77) }
        try Data(other).write(to: URL(fileURLWithPath: content.folder["a/7.m4s"]))
        try publish(0..<8)
        let decoder = try open()
        let heard = try hear(decoder, seconds: 2).samples
        let (before, after) = (samples(try begin(before: 8)..<6), samples(7..<8))
        expect(Array(heard.prefix(before.count)), before)
        expect(Array(heard.suffix(after.count)), after)
        if !isCut { #expect(heard.count == before.count + after.count) }
        #expect(content.service.playbackinfoRequests.count == 1)
    }

    @Test("A playlist is loaded for ever, whatever is sent in its place")
    func playlist() throws {
        for answer in LiveAnswer.allCases {
            try publish(0..<8)
            let before = sessions
            let decoder = try open()
            expect(try hear(decoder, seconds: 1).samples, samples(try begin(before: 8)..<8), "\(answer)")
            fail("live.m3u8", answer)
            try publish(4..<10)
            let silent = try hear(decoder, seconds: 100)
            #expect(silent.samples.isEmpty && !silent.isOver, "\(answer)")
            faults.set([:])
            expect(try hear(decoder, seconds: 2).samples, samples(8..<10), "\(answer)")
            #expect(sessions == before + 1, "\(answer)")
        }
    }

    @Test("A new session that finds no playlist leaves the old one alone")
    func sessionWithoutPlaylist() throws {
        try publish(map + segments[0..<6].joined(), number: 100)
        let decoder = try open()
        _ = try hear(decoder, seconds: 1)
        // The playlist restarts its numbers, and then is missing for a while.
        let lines = map + segments[7..<13].joined()
        let answered = Locked(false)
        let inner = content.service.content
        content.service.content = { count, transfer in
            if transfer.request.url.hasSuffix("live.m3u8"), answered.value { return transfer.answer(404) }
            if transfer.request.url.hasSuffix("live.m3u8") { answered.set(true) }
            inner(count, transfer)
        }
        try publish(lines)
        let silent = try hear(decoder, seconds: 20)
        #expect(silent.samples.isEmpty && !silent.isOver)
        content.service.content = inner
        let later = try hear(decoder, seconds: 4)
        expect(later.samples, samples(max(7, try begin(before: 13))..<13))
        #expect(!later.isOver)
    }

    @Test("An initialization and a key that are late", arguments: [false, true])
    func initializationAndKey(isForEver: Bool) throws {
        let key = [UInt8](1...16)
        var lines = ""
        for place in 0..<segments.count {
            let vector = [UInt8](repeating: 0, count: 15) + [UInt8(place)]
            let plain = try #require(PackagedContent.bytes(at: "a/\(place + 1).m4s", in: content.folder))
            let padding = 16 - plain.count % 16
            var cipher = try AESCBC(.encrypt, key: SecretBytes(copying: key), initializationVector: vector)
            let bytes = try cipher.process(plain + [UInt8](repeating: UInt8(padding), count: padding))
            try Data(bytes).write(to: URL(fileURLWithPath: content.folder["s\(place).m4s"]))
            try Data(key).write(to: URL(fileURLWithPath: content.folder["k\(place).key"]))
            let duration = try #require(segments[place].split(separator: "\n").first)
            lines += "#EXT-X-KEY:METHOD=AES-128,URI=\"k\(place).key\"\n\(duration)\ns\(place).m4s\n"
        }
        let each = lines.components(separatedBy: "#EXT-X-KEY").dropFirst().map { "#EXT-X-KEY" + $0 }
        try FileManager.default.copyItem(
            atPath: content.folder["a/init.mp4"], toPath: content.folder["a/other.mp4"])
        let other = map.replacingOccurrences(of: "init.mp4", with: "other.mp4")
        try publish(map + each[0..<3].joined(), number: 0)
        let decoder = try open()
        expect(try hear(decoder, seconds: 1).samples, samples(0..<3))
        fail("k4.key", .failed, times: isForEver ? .max : 3)
        fail("other.mp4", .reset, times: isForEver ? .max : 2)
        let changed = "#EXT-X-KEY:METHOD=NONE\n" + other
        try publish(
            map + each[1..<6].joined() + changed + each[6...].joined(), number: 1, isOver: true)
        let heard = try hear(decoder, seconds: 200)
        let expected = isForEver ? samples(3..<4) + samples(5..<6) : samples(3..<segments.count)
        expect(heard.samples, expected)
        #expect(heard.isOver && content.service.playbackinfoRequests.count == 1)
    }

    // MARK: Redundant streams

    private static let master = """
        #EXTM3U
        #EXT-X-STREAM-INF:BANDWIDTH=300000,CODECS="fLaC"
        https://first/live.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=300000,CODECS="fLaC"
        https://content/live.m3u8

        """

    /// Serves the folder on a first host also.
    /// - Parameters:
    ///   - fault: of the first host, by the address.
    ///   - playlist: of the second host.
    private func mirror(playlist: String = "live.m3u8", _ fault: @escaping @Sendable (String) -> LiveAnswer?) {
        content.service.content = { [folder = content.folder] _, transfer in
            let url = transfer.request.url
            let isFirst = url.hasPrefix("https://first/")
            var name = String(url.dropFirst(isFirst ? 14 : 16))
            if !isFirst, name == "live.m3u8" { name = playlist }
            guard let bytes = PackagedContent.bytes(at: name, in: folder) else { return transfer.answer(404) }
            if isFirst, let fault = fault(url) { return fault.send(to: transfer, instead: bytes) }
            LiveAnswer.serve(bytes, to: transfer)
        }
    }

    private func openMaster() throws -> any AudioDecoder {
        try content.open(Self.master, type: "application/vnd.apple.mpegurl")
    }

    @Test("Redundant streams: the segments come from the second host when the first never has them")
    func redundantFromTheBeginning() throws {
        try publish(0..<8)
        mirror { $0.hasSuffix(".m3u8") ? nil : .notFound }
        let decoder = try openMaster()
        expect(try decoder.decodeArrived().samples, samples(try begin(before: 8)..<8))
        try publish(4..<segments.count, isOver: true)
        let rest = try hear(decoder, seconds: 4)
        expect(rest.samples, samples(8..<segments.count))
        #expect(rest.isOver && sessions == 1)
    }

    @Test("Redundant streams: the second host goes on when the first one fails", arguments: [".m4s", ".m3u8"])
    func redundant(name: String) throws {
        for answer in LiveAnswer.allCases {
            try publish(0..<8)
            let isBroken = Locked(false)
            mirror { isBroken.value && $0.hasSuffix(name) ? answer : nil }
            let before = sessions
            let decoder = try openMaster()
            expect(try hear(decoder, seconds: 1).samples, samples(try begin(before: 8)..<8), "\(answer)")
            isBroken.set(true)
            try publish(4..<10)
            expect(try hear(decoder, seconds: 10).samples, samples(8..<10), "\(answer)")
            try publish(7..<segments.count, isOver: true)
            let rest = try hear(decoder, seconds: 10)
            expect(rest.samples, samples(10..<segments.count), "\(answer)")
            #expect(rest.isOver && sessions == before + 1, "\(answer)")
        }
    }

    @Test("Redundant streams: a second host that is a little late is no encoder that has begun again")
    func lateRedundant() throws {
        try publish(0..<7)
        try FileManager.default.copyItem(atPath: content.folder["live.m3u8"], toPath: content.folder["late.m3u8"])
        try publish(0..<8)
        let isBroken = Locked(false)
        mirror(playlist: "late.m3u8") { _ in isBroken.value ? .unavailable : nil }
        let decoder = try openMaster()
        expect(try decoder.decodeArrived().samples, samples(try begin(before: 8)..<8))
        isBroken.set(true)
        let silent = try hear(decoder, seconds: 3)
        #expect(silent.samples.isEmpty && !silent.isOver && sessions == 1)
        try publish(4..<10)
        try FileManager.default.removeItem(atPath: content.folder["late.m3u8"])
        try FileManager.default.copyItem(atPath: content.folder["live.m3u8"], toPath: content.folder["late.m3u8"])
        expect(try hear(decoder, seconds: 4).samples, samples(8..<10))
        #expect(sessions == 1)
    }
}
