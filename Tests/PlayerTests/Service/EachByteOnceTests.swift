import Foundation
import Media
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

    /// Answers piece by piece, as the test says.
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

    @Test("Also when the next segment is not there yet, in pieces of any size", arguments: [9973, 40_000, 1 << 20])
    func once(piece: Int) throws {
        let manifest = try content.package(["a.mp4"], ["--segment_duration", "1"])
        let (slow, answer) = (Slow(), content.service.content)
        content.service.content = { [folder = content.folder] count, transfer in
            // The opening blocks until the format is known: the first segment is there at once.
            guard transfer.request.url.hasSuffix(".m4s"), !transfer.request.url.hasSuffix("a/1.m4s"),
                let bytes = PackagedContent.bytes(at: transfer.request.url, in: folder)
            else { return answer(count, transfer) }
            let start = Int(transfer.request.range?.from ?? 0)
            transfer.begin(
                start == 0 ? 200 : 206,
                start == 0
                    ? [("Content-Length", "\(bytes.count)")]
                    : [("Content-Range", "bytes \(start)-\(bytes.count - 1)/\(bytes.count)")])
            slow.waiting.append((transfer, bytes[start...]))
        }
        let decoder = try content.open(manifest)
        var samples: [Int32] = []
        var hasEnded = false
        while !hasEnded {
            let more = try decoder.decodeArrived()
            samples += more.samples
            hasEnded = more.isOver
            if !hasEnded, !slow.deliver(piece) { break }
        }
        let isEqual = samples == track.samples
        #expect(isEqual, "\(samples.count) of \(track.samples.count)")
        let fetched = content.fetched
        #expect(Set(fetched).count == fetched.count, "\(fetched)")
        let size = try fetched.filter { $0.hasSuffix(".m4s") && !$0.hasSuffix("a/1.m4s") }.reduce(0) {
            $0 + (try #require(PackagedContent.bytes(at: $1, in: content.folder))).count
        }
        #expect(slow.isGiven == size)
    }
}
