/// Interleaves `frameCount` samples of each channel into `target` and moves them up by `shift` bits.
///
/// Unchecked on purpose: after libFLAC, this loop is the largest cost of playing. In this form it becomes vector code,
/// even when the rest is optimised for size. The caller guarantees that `target` holds `frameCount * channelCount`
/// samples.
@_optimize(speed) @inline(never)
func interleave(
    _ channels: UnsafePointer<UnsafePointer<Int32>?>, channelCount: Int, frameCount: Int, shift: Int32,
    into target: UnsafeMutablePointer<Int32>
) {
    switch channelCount {
    case 1:
        guard let only = channels[0] else { return }
        var frame = 0
        while frame < frameCount {
            target[frame] = only[frame] &<< shift
            frame &+= 1
        }
    case 2:
        guard let left = channels[0], let right = channels[1] else { return }
        var frame = 0
        while frame < frameCount {
            target[frame &* 2] = left[frame] &<< shift
            target[frame &* 2 &+ 1] = right[frame] &<< shift
            frame &+= 1
        }
    default:
        var channel = 0
        while channel < channelCount {
            guard let samples = channels[channel] else { return }
            var frame = 0
            var position = channel
            while frame < frameCount {
                target[position] = samples[frame] &<< shift
                position &+= channelCount
                frame &+= 1
            }
            channel &+= 1
        }
    }
}
