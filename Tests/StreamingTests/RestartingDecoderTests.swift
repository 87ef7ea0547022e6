import Media
import Testing

@testable import Playback
@testable import Streaming

@Suite("A connection that ends before the content: the rest is requested (docs/playback.md, 18.4)")
struct RestartingDecoderTests {
    private final class Transfers: ContentTransfers {
        let isFetched = true
        let mayHaveRest: Bool
        init(mayHaveRest: Bool) { self.mayHaveRest = mayHaveRest }
        func fetchAhead() {}
    }

    private final class Reopenings {
        var reasons: [MediaError] = []
    }

    private static let cut = MediaError.source(.network(reason: "the connection ended before the content"))

    private static func content(
        _ runs: [DecodedRun], isCut: Bool = true, mayHaveRest: Bool = true, seekError: MediaError? = nil
    ) -> RestartingDecoder.Content {
        RestartingDecoder.Content(
            ScriptedRuns(runs, isCut: isCut, seekError: seekError), transfers: Transfers(mayHaveRest: mayHaveRest),
            audioQuality: nil)
    }

    /// Reads to the end.
    private func samples(_ decoder: RestartingDecoder) throws(MediaError) -> [Int32] {
        var samples: [Int32] = []
        let buffer = UnsafeMutableBufferPointer<Int32>.allocate(capacity: 64)
        defer { buffer.deallocate() }
        while true {
            switch try decoder.read(into: buffer) {
            case .frames(let count): samples += buffer.prefix(count)
            case .end: return samples
            case .format, .notYet: Issue.record("another run")
            }
        }
    }

    @Test("Each opening that has more continues at the next frame; one that has nothing more is the end")
    func continues() throws {
        let (reopenings, lengths) = (Reopenings(), [3, 5, 5])
        let decoder = RestartingDecoder(Self.content([.frames(10), .frames(10)])) { reason throws(PlayerError) in
            reopenings.reasons.append(reason)
            return Self.content([DecodedRun](repeating: .frames(10), count: lengths[reopenings.reasons.count - 1]))
        }
        #expect(try samples(decoder) == Array(0..<50))
        #expect(reopenings.reasons == [Self.cut, Self.cut, Self.cut])
        #expect(try samples(decoder).isEmpty && reopenings.reasons.count == 3, "no progress, no opening")
    }

    @Test(
        "A whole content, and an end that the transfer has announced, are the end",
        arguments: [(false, true), (true, false), (false, false)])
    func ends(isCut: Bool, mayHaveRest: Bool) throws {
        let decoder = RestartingDecoder(Self.content([.frames(10)], isCut: isCut, mayHaveRest: mayHaveRest)) {
            reason throws(PlayerError) in
            Issue.record("it is opened again")
            throw PlayerError(reason, MediaProduct(productType: .track, productId: "x", referenceId: "r"))
        }
        #expect(try samples(decoder) == Array(0..<10))
    }

    @Test("Without a new opening the connection's failure is the error, and the reason is the opening's")
    func refused() {
        let refusal = PlayerError(.notAllowed, code: "x1", message: "no.")
        let decoder = RestartingDecoder(Self.content([.frames(10)])) { _ throws(PlayerError) in throw refusal }
        #expect(throws: Self.cut) { _ = try samples(decoder) }
        #expect(decoder.failure == refusal)
    }

    @Test("A new opening that cannot be read from there is the end if its answer is the cause, else the error")
    func unreadable() throws {
        let answer = RestartingDecoder(Self.content([.frames(10)])) { _ throws(PlayerError) in
            Self.content([], seekError: .damaged(what: "x"))
        }
        #expect(try samples(answer) == Array(0..<10))
        let offline = RestartingDecoder(Self.content([.frames(10)])) { _ throws(PlayerError) in
            Self.content([], seekError: .source(.offlineMode))
        }
        #expect(throws: MediaError.source(.offlineMode)) { _ = try samples(offline) }
    }
}
