import Network
import TestSupport
import PlayerTestSupport
import Testing

@testable import Fetching

@Suite("A whole answer in memory")
struct WholeAnswerTests {
    private func answer(_ pieces: [[UInt8]]) -> WholeAnswer {
        let answer = WholeAnswer()
        answer.began(ResponseHead(status: 200, effectiveURL: "https://a/b"), length: nil)
        for piece in pieces { _ = piece.withUnsafeBytes { answer.received($0) } }
        return answer
    }

    @Test("It has no result before its end, and then all bytes and the address")
    func complete() throws {
        let answer = answer([[1, 2], [3]])
        if case .some = answer.result { Issue.record("a result before the end") }
        answer.ended(nil)
        let content = try #require(answer.result).get()
        #expect(content.body == [1, 2, 3] && content.url == "https://a/b")
    }

    @Test("An answer that begins again has only the bytes from then on")
    func again() throws {
        let answer = answer([[1, 2]])
        answer.began(ResponseHead(status: 200, effectiveURL: "https://c/"), length: nil)
        _ = ([9] as [UInt8]).withUnsafeBytes { answer.received($0) }
        answer.ended(nil)
        let content = try #require(answer.result).get()
        #expect(content.body == [9] && content.url == "https://c/")
    }

    @Test("A failure is the result")
    func failed() throws {
        let answer = answer([[1, 2]])
        answer.ended(.changed)
        #expect(throws: ResourceFailure.changed) { try answer.result?.get() }
    }

    @Test("Its end wakes a waiting thread once; after the end at once")
    func wake() {
        let woken = Locked(0)
        let answer = answer([])
        answer.whenOver { woken.withLock { $0 += 1 } }
        #expect(woken.value == 0)
        answer.ended(nil)
        #expect(woken.value == 1)
        answer.whenOver { woken.withLock { $0 += 1 } }
        #expect(woken.value == 2)
    }
}
