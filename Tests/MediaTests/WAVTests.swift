import PCM
import Testing

@testable import Media

@Suite("WAV")
struct WAVTests {
    struct Layout: Sendable, CustomTestStringConvertible {
        var bits: Int
        var byteCount: Int
        var testDescription: String { "\(bits) bits in \(byteCount) bytes" }
    }

    @Test("Classic format", arguments: [
        Layout(bits: 8, byteCount: 1), Layout(bits: 12, byteCount: 2), Layout(bits: 16, byteCount: 2),
        Layout(bits: 20, byteCount: 3), Layout(bits: 24, byteCount: 3), Layout(bits: 24, byteCount: 4),
        Layout(bits: 32, byteCount: 4),
    ])
    func classic(layout: Layout) throws {
        let signal = Signal(frames: 3000, channels: 3, depth: layout.bits)
        try expect(signal, in: Chunks.wav(
            Chunks.format(of: signal, bits: layout.bits, byteCount: layout.byteCount)
                + Chunks.riff("data", signal.raw(byteCount: layout.byteCount, unsigned: layout.byteCount == 1))))
    }

    @Test("Extensible format, every depth", arguments: 4...32)
    func extensible(depth: Int) throws {
        let signal = Signal(frames: 1000, depth: depth)
        try expect(signal, in: signal.extensibleWAV)
    }

    private func expect(_ signal: Signal, in bytes: [UInt8]) throws {
        let decoder = try AudioFile.open(MemorySource(bytes))
        #expect(decoder.properties.format == signal.format)
        #expect(decoder.properties.frameCount == Int64(signal.frameCount))
        #expect(difference(decoder.decodeAll().samples, signal.samples) == nil)
        #expect(decoder.damage.isEmpty)
    }
}
