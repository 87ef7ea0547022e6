import PCM
import Testing

@testable import Media

@Suite("FLAC: every format comes out as it went in", Tool.needsFLAC)
struct FLACFormatTests {
    @Test("Bit depths", arguments: 4...32)
    func bitDepth(depth: Int) throws {
        try roundTrip(Signal(frames: 10_000, depth: depth))
    }

    @Test("Channels", arguments: 1...8)
    func channels(count: Int) throws {
        try roundTrip(Signal(frames: 9000, channels: count, depth: 24))
    }

    @Test("Sample rates", arguments: [1, 10, 999, 8000, 22050, 65535, 65537, 192_000, 655_350, 768_000, 1_048_575])
    func sampleRate(rate: Int) throws {
        try roundTrip(Signal(frames: 5000, rate: rate))
    }

    @Test("Lengths around a block", arguments: [1, 15, 16, 17, 4095, 4096, 4097, 8192])
    func length(frames: Int) throws {
        try roundTrip(Signal(frames: frames))
    }

    @Test("Block sizes and levels", arguments: [["-b16"], ["-b65535"], ["-0"], ["-8e"], ["-b192", "-5"]])
    func encoderOptions(options: [String]) throws {
        try roundTrip(Signal(frames: 70_000, channels: 1), options)
    }

    @Test("A total that the encoder did not know")
    func unknownTotal() throws {
        let signal = Signal(frames: 20_000)
        let decoder = try AudioFile.open(MemorySource(try signal.flac(fromPipe: true)))
        #expect(decoder.properties.frameCount == nil)
        #expect(difference(decoder.decodeAll().samples, signal.samples) == nil)
        #expect(decoder.damage.isEmpty)
    }

    @Test("Buffers of any size take the same samples", arguments: [1, 2, 100, 1024, 8192])
    func bufferSizes(frames: Int) throws {
        let signal = Signal(frames: 9000, channels: 3)
        let decoder = try AudioFile.open(MemorySource(try signal.flac()))
        #expect(difference(decoder.decodeAll(bufferFrames: frames).samples, signal.samples) == nil)
    }

    @Test("Sources that give one byte at a time, or do not know their length")
    func poorSources() throws {
        let signal = Signal(frames: 5000)
        let bytes = try signal.flac()
        let slow = MemorySource(bytes, knowsLength: false)
        slow.largestRead = 1
        #expect(try difference(AudioFile.open(slow).decodeAll().samples, signal.samples) == nil)
    }

    private func roundTrip(_ signal: Signal, _ options: [String] = []) throws {
        let decoder = try AudioFile.open(MemorySource(try signal.flac(options)))
        #expect(decoder.properties.format == signal.format)
        #expect(decoder.properties.frameCount == Int64(signal.frameCount))
        #expect(decoder.properties.container == .flac)
        let decoded = decoder.decodeAll()
        #expect(decoded.error == nil)
        #expect(difference(decoded.samples, signal.samples) == nil)
        #expect(decoder.damage.isEmpty)
    }
}
