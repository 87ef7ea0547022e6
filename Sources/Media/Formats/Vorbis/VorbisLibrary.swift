import CVorbis
import PCM

extension AudioProperties.Codec {
    public static var vorbis: Self { Self(8, "vorbis", .padded) }
}

/// A decoder of libvorbis.
///
/// Thread: only the decoder thread.
final class VorbisLibrary: FloatDecoder {
    private let setup: VorbisSetup
    private let state: UnsafeMutablePointer<vorbis_dsp_state>
    private let block: UnsafeMutablePointer<vorbis_block>
    /// A buffer for each channel, valid until the next packet.
    private var channels: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>?
    /// Frames in the buffers.
    private var count: Int32 = 0

    init(_ setup: VorbisSetup) throws(Interruption) {
        let state = UnsafeMutablePointer<vorbis_dsp_state>.allocate(capacity: 1)
        guard vorbis_synthesis_init(state, setup.info) == 0 else {
            // libvorbis has already cleared the state.
            state.deallocate()
            throw .damaged(what: "Vorbis with headers that are not valid")
        }
        block = .allocate(capacity: 1)
        vorbis_block_init(state, block)
        self.setup = setup
        self.state = state
    }

    deinit {
        vorbis_block_clear(block)
        vorbis_dsp_clear(state)
        block.deallocate()
        state.deallocate()
    }

    func restart() {
        release()
        _ = vorbis_synthesis_restart(state)
    }

    func preroll(beginningWith packet: UnsafeRawBufferPointer) -> Int64 { 0 }

    /// The first packet gives no frames: each overlaps with the one before.
    func decode(_ packet: UnsafeRawBufferPointer) -> Int? {
        release()
        var view = ogg_packet(packet)
        guard vorbis_synthesis(block, &view) == 0, vorbis_synthesis_blockin(state, block) == 0 else { return nil }
        count = vorbis_synthesis_pcmout(state, &channels)
        return Int(count)
    }

    func copy(_ frames: Range<Int>, channel: Int, to target: UnsafeMutableBufferPointer<Int32>, from start: Int) {
        guard let samples = channels?[channel], let first = target.baseAddress else { return }
        FloatSamples.leftJustify(
            samples + frames.lowerBound, count: frames.count, to: first + start, every: setup.format.channelCount)
    }

    /// The frames in the buffers are not needed any more.
    private func release() {
        guard count > 0 else { return }
        _ = vorbis_synthesis_read(state, count)
        count = 0
    }
}
