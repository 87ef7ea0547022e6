import Testing

@testable import PictureRequests

@Suite("Packets of tonearm-pictures")
struct PictureRequestTests {
    @Test("has a request in 24 bytes, little endian")
    func request() {
        let request = PictureRequest(longestSide: 640, offset: 0x0102_0304_0506, length: 0x1_0000_0002)
        #expect(
            request.bytes == [
                1, 0, 0, 0, 0x80, 2, 0, 0, 6, 5, 4, 3, 2, 1, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0,
            ])
        #expect(PictureRequest(bytes: request.bytes) == request)
    }

    @Test(
        "refuses a request of another version, length, size or range",
        arguments: [
            (0, 2), (4, 0), (5, 3), (15, 0x80), (23, 0x7F),
        ])
    func strangeRequest(index: Int, value: UInt8) {
        var bytes = PictureRequest(longestSide: 160, offset: .max - 5, length: 5).bytes
        #expect(PictureRequest(bytes: bytes) != nil)
        bytes[index] = value
        #expect(PictureRequest(bytes: bytes) == nil)
    }

    @Test("refuses packets that are cut or too long")
    func lengths() {
        let request = PictureRequest(longestSide: 64, offset: 0, length: 1).bytes
        let answer = PictureAnswer(.damaged).bytes
        for count in 0..<24 { #expect(PictureRequest(bytes: [UInt8](request.prefix(count))) == nil) }
        for count in 0..<16 { #expect(PictureAnswer(bytes: [UInt8](answer.prefix(count))) == nil) }
        #expect(PictureRequest(bytes: request + [0]) == nil)
        #expect(PictureAnswer(bytes: answer + [0]) == nil)
    }

    @Test("has an answer in 16 bytes, little endian", arguments: PictureOutcome.allCases)
    func answer(outcome: PictureOutcome) {
        let answer = PictureAnswer(outcome, width: 640, height: 0x0102, length: 0x0001_0203)
        #expect(
            answer.bytes == [
                1, 0, 0, 0, UInt8(outcome.rawValue), 0, 0, 0, 0x80, 2, 2, 1, 3, 2, 1, 0,
            ])
        #expect(PictureAnswer(bytes: answer.bytes) == answer)
    }

    @Test("refuses an answer of another version, an unknown outcome, or too many bytes", arguments: [0, 4, 7, 15])
    func strangeAnswer(index: Int) {
        var bytes = PictureAnswer(.unwritable, width: 1, height: 1, length: 1).bytes
        bytes[index] = 0x80
        #expect(PictureAnswer(bytes: bytes) == nil)
    }
}
