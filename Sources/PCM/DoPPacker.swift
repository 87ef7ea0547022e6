/// Packs words of DSD into samples of 24 bits, by the open standard "DSD over PCM" (DoP) 1.1
/// (docs/decisions/dsd-over-pcm.md).
///
/// A sample has a marker at the top and 16 bits of DSD below it, the oldest at the top. The marker is the same in all
/// channels and alternates from frame to frame, through pauses and silence. By it a DAC knows that it gets DSD.
///
/// Thread: one at a time. Does not allocate after `init`.
public final class DoPPacker {
    /// Bits of DSD in a word.
    public static let wordBits = 16
    /// Eight bits of DSD whose mean is 0: the silence of DSD.
    public static let idleByte: UInt8 = 0x69

    /// Frames that are packed at once.
    private static let capacity = 256
    private static let idle = UInt32(idleByte) << 16 | UInt32(idleByte) << 8
    private static let markers: (first: UInt32, second: UInt32) = (0x0500_0000, 0xFA00_0000)

    private let channelCount: Int
    private let samples: UnsafeMutablePointer<Int32>
    /// Whether the next frame has the second marker.
    private var isSecond = false

    init(channelCount: Int) {
        self.channelCount = channelCount
        samples = .allocate(capacity: Self.capacity * channelCount)
        samples.initialize(repeating: 0, count: Self.capacity * channelCount)
    }

    deinit { samples.deallocate() }

    /// Makes the next frames replace the last `frames` frames.
    func rewind(_ frames: Int) {
        if frames & 1 == 1 { isSecond.toggle() }
    }

    /// Packs the next `frames` frames.
    /// - Parameters:
    ///   - words: left-justified; nil for silence.
    ///   - write: takes samples of 24 bits, left-justified: those of `frames` frames, from number `first` on.
    func pack(
        _ words: UnsafePointer<Int32>?, frames: Int,
        _ write: (_ first: Int, _ frames: Int, _ samples: UnsafePointer<Int32>) -> Void
    ) {
        var done = 0
        while done < frames {
            let amount = min(frames - done, Self.capacity)
            let source = words.map { $0 + done * channelCount }
            for frame in 0..<amount {
                let marker = isSecond ? Self.markers.second : Self.markers.first
                isSecond.toggle()
                for index in (frame &* channelCount)..<((frame &+ 1) &* channelCount) {
                    var word = Self.idle
                    if let source { word = UInt32(bitPattern: source[index]) &>> 8 }
                    samples[index] = Int32(bitPattern: marker | word)
                }
            }
            write(done, amount, samples)
            done += amount
        }
    }
}
