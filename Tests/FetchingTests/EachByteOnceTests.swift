import Foundation
import Media
import PlayerTestSupport
import TestSupport
import Testing

@testable import Player

@Suite("Each byte of content is requested once", StreamTool.needed)
struct EachByteOnceTests {
    private let content: PackagedContent
    /// Frames of more than 64 KiB, so that a step that is repeated looks back further than a parser does.
    private let track: Track

    init() throws {
        content = try PackagedContent()
        track = try Track("a", frames: 200_000, rate: 48_000, bits: 24, in: content.folder)
        try content.encode(
            track, to: "a.mp4", ["-c:a", "flac", "-strict", "-2", "-frame_size", "16384", "-compression_level", "0"])
    }

    /// Answers in steps, as the test wants.
    // @unchecked: one thread.
    private final class Slow: @unchecked Sendable {
        var waiting: [(transfer: ScriptedNetwork.Ongoing, rest: ArraySlice<UInt8>)] = []
        var isGiven = 0

        func deliver(_ count: Int) -> Bool {
            waiting.removeAll { $0.transfer.isCancelled }
            guard !waiting.isEmpty else { return false }
            let part = waiting[0].rest.prefix(count)
            waiting[0].rest = waiting[0].rest.dropFirst(part.count)
            isGiven += part.count
            waiting[0].transfer.deliver(Array(part))
            if waiting[0].rest.isEmpty { waiting.removeFirst().transfer.end() }
            return true
        }
    }

    /// Serves all segments but the first in steps: the opening blocks until the format is known.
    private func serve(_ slow: Slow, holding: @escaping (ScriptedNetwork.Ongoing) -> Bool) {
        let answer = content.service.content
        content.service.content = { [folder = content.folder] count, transfer in
            guard holding(transfer), let bytes = PackagedContent.bytes(at: transfer.request.url, in: folder)
            else { return answer(count, transfer) }
            let range = transfer.request.range
            let start = Int(range?.from ?? 0)
            let end = range?.upTo.map { Int($0) } ?? bytes.count
            if range == nil {
                transfer.begin(200, [("Content-Length", "\(bytes.count)")])
            } else {
                transfer.begin(206, [("Content-Range", "bytes \(start)-\(end - 1)/\(bytes.count)")])
            }
            slow.waiting.append((transfer, bytes[start..<end]))
        }
    }

    private func decode(_ decoder: any AudioDecoder, _ slow: Slow, _ piece: Int) throws -> [Int32] {
        var samples: [Int32] = []
        while true {
            let more = try decoder.decodeArrived()
            samples += more.samples
            if more.isOver || !slow.deliver(piece) { return samples }
        }
    }

    @Test("Also when the next segment is not there yet, in pieces of any size", arguments: [9973, 40_000, 1 << 20])
    func once(piece: Int) throws {
        let manifest = try content.package(["a.mp4"], ["--segment_duration", "1"])
        let slow = Slow()
        serve(slow) { $0.request.url.hasSuffix(".m4s") && !$0.request.url.hasSuffix("a/1.m4s") }
        let isEqual = try decode(content.open(manifest), slow, piece) == track.samples
        #expect(isEqual)
        let fetched = content.fetched
        #expect(Set(fetched).count == fetched.count, "\(fetched)")
        let size = try fetched.filter { $0.hasSuffix(".m4s") && !$0.hasSuffix("a/1.m4s") }.reduce(0) {
            $0 + (try #require(PackagedContent.bytes(at: $1, in: content.folder))).count
        }
        #expect(slow.isGiven == size)
    }

    @Test("Also of segments that are ranges of one file, with their initialization", arguments: [9973, 1 << 20])
    func ranges(piece: Int) throws {
        try content.package(["a.mp4"], ["--segment_duration", "1"])
        var whole = [UInt8](try Data(contentsOf: URL(fileURLWithPath: content.folder["a/init.mp4"])))
        var lines = [
            "#EXTM3U", "#EXT-X-TARGETDURATION:2", "#EXT-X-VERSION:7",
            "#EXT-X-MAP:URI=\"https://content/all.mp4\",BYTERANGE=\"\(whole.count)@0\"",
        ]
        let first = whole.count
        for number in 1...5 {
            guard let bytes = PackagedContent.bytes(at: "a/\(number).m4s", in: content.folder) else { break }
            lines += [
                "#EXTINF:1,", "#EXT-X-BYTERANGE:\(bytes.count)@\(whole.count)", "https://content/all.mp4",
            ]
            whole += bytes
        }
        try Data(whole).write(to: URL(fileURLWithPath: content.folder["all.mp4"]))
        let slow = Slow()
        serve(slow) { ($0.request.range?.from ?? 0) > first }
        let playlist = (lines + ["#EXT-X-ENDLIST", ""]).joined(separator: "\n")
        let decoder = try content.open(playlist, type: "application/vnd.apple.mpegurl")
        let isEqual = try decode(decoder, slow, piece) == track.samples
        #expect(isEqual)
        let ranges = content.service.contentRequests.compactMap { $0.range }.sorted { $0.from < $1.from }
        #expect(ranges.count == content.fetched.count)
        var end: Int64 = 0
        for range in ranges {
            #expect(range.from == end, "\(ranges)")
            end = range.upTo ?? .max
        }
        #expect(end == Int64(whole.count))
    }
}
