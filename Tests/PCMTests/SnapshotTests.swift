import PCM
import Testing

@Suite("Snapshot")
struct SnapshotTests {
    private struct Odd: Equatable, BitwiseCopyable {
        var first: UInt8
        var second: UInt16
        var third: UInt8
    }

    @Test("reads what was published last")
    func last() {
        let snapshot = Snapshot(1)
        #expect(snapshot.read() == 1)
        snapshot.publish(2)
        snapshot.publish(3)
        #expect(snapshot.read() == 3)
        #expect(snapshot.read() == 3)
    }

    @Test("holds values of any size, whole words or not")
    func sizes() {
        #expect(Snapshot(UInt8(200)).read() == 200)
        #expect(Snapshot(Odd(first: 1, second: 0xffee, third: 3)).read() == Odd(first: 1, second: 0xffee, third: 3))
        #expect(Snapshot<PCMFormat?>(nil).read() == nil)
        let format = PCMFormat(sampleRate: 44_100, channelCount: 2, bitDepth: 16)
        #expect(Snapshot<PCMFormat?>(format).read() == format)
        #expect(Snapshot(SIMD64<UInt8>(repeating: 7)).read() == SIMD64(repeating: 7))
    }
}
