import PCM
import Testing

@Suite("DSD over PCM (docs/decisions/dsd-over-pcm.md)")
struct DoPPackerTests {
    private func renderer(_ format: SampleFormat = .s32, channels: Int = 2) -> SampleRenderer {
        SampleRenderer(format: format, channelCount: channels, sampleRate: 176_400, isDSD: true, seed: 1)
    }

    private func word(_ bits: UInt32) -> Int32 { Int32(bitPattern: bits << 16) }

    private func bytes(_ words: [Int32], with renderer: SampleRenderer) -> [UInt8] {
        var bytes = [UInt8](repeating: 0xa5, count: words.count * renderer.format.byteCount)
        bytes.withUnsafeMutableBytes { target in
            words.withUnsafeBufferPointer {
                renderer.render(
                    from: $0.baseAddress!, frames: words.count / renderer.channelCount, to: target.baseAddress!)
            }
        }
        return bytes
    }

    private func silence(_ frames: Int, with renderer: SampleRenderer) -> [UInt8] {
        var bytes = [UInt8](repeating: 0xa5, count: frames * renderer.channelCount * renderer.format.byteCount)
        bytes.withUnsafeMutableBytes { renderer.renderSilence(frames: frames, to: $0.baseAddress!) }
        return bytes
    }

    @Test("Known words in each format: markers in turn, the same in all channels, the oldest bit below them")
    func knownAnswers() {
        let words = [word(0x1234), word(0xABCD), word(0x8000), word(0x0001)]
        #expect(
            bytes(words, with: renderer(.s24Packed)) == [
                0x34, 0x12, 0x05, 0xCD, 0xAB, 0x05, 0x00, 0x80, 0xFA, 0x01, 0x00, 0xFA,
            ])
        #expect(
            bytes(words, with: renderer(.s32)) == [
                0, 0x34, 0x12, 0x05, 0, 0xCD, 0xAB, 0x05, 0, 0x00, 0x80, 0xFA, 0, 0x01, 0x00, 0xFA,
            ])
        // The highest byte extends the sign, as in PCM.
        #expect(
            bytes(words, with: renderer(.s24)) == [
                0x34, 0x12, 0x05, 0, 0xCD, 0xAB, 0x05, 0, 0x00, 0x80, 0xFA, 0xFF, 0x01, 0x00, 0xFA, 0xFF,
            ])
    }

    @Test("Every word stays as it is, whatever the pieces are", arguments: [SampleFormat.s32, .s24, .s24Packed])
    func allWords(format: SampleFormat) {
        let words = (0..<65_536).map { word(UInt32($0)) }
        let whole = bytes(words, with: renderer(format, channels: 1))
        let samples = decode(whole, as: format).map { UInt32(bitPattern: format == .s32 ? $0 >> 8 : $0) & 0xFF_FFFF }
        for (index, sample) in samples.enumerated() where sample != (index % 2 == 0 ? 0x05 : 0xFA) << 16 | UInt32(index)
        {
            Issue.record("word \(index) is \(sample)")
            return
        }
        let pieces = renderer(format, channels: 1)
        var joined: [UInt8] = []
        var (place, size) = (0, 1)
        while place < words.count {
            joined += bytes(Array(words[place..<min(place + size, words.count)]), with: pieces)
            (place, size) = (place + size, size * 3 % 1021 + 1)
        }
        #expect(joined == whole)
    }

    @Test("Silence and mute are the idle pattern, and the markers go on through them")
    func idle() {
        let renderer = renderer(.s24Packed, channels: 1)
        var all = bytes([word(1)], with: renderer) + silence(2, with: renderer)
        renderer.switchGain(to: .muted)
        all += bytes([word(2)], with: renderer)
        renderer.rampGain(to: .unity)
        all += bytes([word(3)], with: renderer)
        #expect(
            all == [
                0x01, 0x00, 0x05, 0x69, 0x69, 0xFA, 0x69, 0x69, 0x05, 0x69, 0x69, 0xFA, 0x03, 0x00, 0x05,
            ])
    }

    @Test("A gain changes nothing", arguments: [Gain(factor: 0.1), Gain(factor: 2)])
    func gain(gain: Gain) {
        let words = (0..<2000).map { word(UInt32($0 * 31 & 0xFFFF)) }
        let scaled = renderer()
        scaled.sourceBitDepth = 16
        scaled.switchGain(to: gain)
        #expect(bytes(words, with: scaled) == bytes(words, with: renderer()))
    }

    @Test("Frames that were taken back, or dropped at a stop, have their markers again", arguments: [0, 1, 2, 255])
    func rewind(frames: Int) {
        let words = (0..<600).map { word(UInt32($0)) }
        let expected = bytes(words, with: renderer(channels: 1))
        for stops in [false, true] {
            let renderer = renderer(channels: 1)
            _ = bytes(Array(words[..<301]), with: renderer)
            if stops { renderer.restart(unheard: frames) } else { renderer.rewind(frames) }
            let rest = bytes(Array(words[(301 - frames)...]), with: renderer)
            #expect(rest == Array(expected[(4 * (301 - frames))...]))
        }
    }

    @Test("the format of DSD has the rate of its words, and that of its bits")
    func rates() {
        let dsd = PCMFormat.dsd(bitRate: 2_822_400, channelCount: 2)
        #expect(dsd.sampleRate == 176_400 && dsd.recordedRate == 2_822_400 && dsd.recordedDepth == 1)
        let pcm = PCMFormat(sampleRate: 176_400, channelCount: 2, bitDepth: 16)
        #expect(pcm.recordedRate == 176_400 && pcm.recordedDepth == 16)
    }
}
