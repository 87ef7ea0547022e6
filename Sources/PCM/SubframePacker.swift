/// Packs samples of 24 bits into subframes of IEC 60958, as alsa-lib's `iec958` plug-in does
/// (docs/decisions/hdmi-subframes.md).
///
/// A subframe has the preamble in bits 0 to 3 and the sample in 4 to 27. Validity and user data (both zero) are in 28
/// and 29, a bit of the channel status in 30. Bit 31 is the even parity of 4 to 30.
///
/// Thread: one at a time. Does not allocate after `init`.
final class SubframePacker {
    /// Frames that are packed at once.
    private static let capacity = 256

    private let channelCount: Int
    private let samples: UnsafeMutablePointer<Int32>
    /// Preamble and channel status of all subframes of a block.
    private let block: UnsafeMutablePointer<UInt32>
    /// The next frame of the block.
    private var position = 0

    init(channelCount: Int, status: ChannelStatus) {
        self.channelCount = channelCount
        samples = .allocate(capacity: Self.capacity * channelCount)
        samples.initialize(repeating: 0, count: Self.capacity * channelCount)
        block = .allocate(capacity: ChannelStatus.blockFrames * channelCount)
        for frame in 0..<ChannelStatus.blockFrames {
            for channel in 0..<channelCount {
                let preamble: UInt32 = channel > 0 ? 0x4 : frame > 0 ? 0x2 : 0x8
                (block + frame * channelCount + channel).initialize(to: preamble | status.bit(frame) &<< 30)
            }
        }
    }

    deinit {
        samples.deallocate()
        block.deallocate()
    }

    /// Makes the next frame the first one of a block.
    func restart() { position = 0 }

    /// Makes the next frames replace the last `frames` frames.
    func rewind(_ frames: Int) {
        position -= frames % ChannelStatus.blockFrames
        if position < 0 { position += ChannelStatus.blockFrames }
    }

    /// Packs the next `frames` frames, in blocks.
    /// - Parameters:
    ///   - target: room for as many subframes.
    ///   - write: writes samples of 24 bits, right-justified: those of `frames` frames, from number `first` on.
    func pack(
        _ frames: Int, to target: UnsafeMutableRawPointer,
        _ write: (_ first: Int, _ frames: Int, _ samples: UnsafeMutablePointer<Int32>) -> Void
    ) {
        let target = target.assumingMemoryBound(to: UInt32.self)
        var done = 0
        while done < frames {
            let amount = min(frames - done, Self.capacity, ChannelStatus.blockFrames - position)
            write(done, amount, samples)
            let count = amount * channelCount
            packSubframes(samples, block + position * channelCount, count: count, to: target + done * channelCount)
            position = (position + amount) % ChannelStatus.blockFrames
            done += amount
        }
    }
}

/// Combines samples with the other bits of their block, and sets the parity.
@inline(never)
@_optimize(speed)
func packSubframes(
    _ samples: UnsafePointer<Int32>, _ block: UnsafePointer<UInt32>, count: Int,
    to target: UnsafeMutablePointer<UInt32>
) {
    for index in 0..<count {
        let subframe = UInt32(bitPattern: samples[index]) &<< 4 & 0x0fff_fff0 | block[index]
        var parity = subframe &>> 4
        parity ^= parity &>> 16
        parity ^= parity &>> 8
        parity ^= parity &>> 4
        parity ^= parity &>> 2
        parity ^= parity &>> 1
        target[index] = subframe | parity &<< 31
    }
}
