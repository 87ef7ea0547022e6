import PCM

/// Numbers that look random and are the same in every run.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state &* 0x2545_F491_4F6C_DD1D
    }
}

/// A sound made for a test: a mixture of music and noise that uses every bit.
struct Signal {
    let format: PCMFormat
    /// Interleaved and left-justified, as a decoder has to give it.
    let samples: [Int32]

    var frameCount: Int { samples.count / format.channelCount }

    init(_ samples: [Int32], _ format: PCMFormat) {
        self.format = format
        self.samples = samples
    }

    init(frames: Int, rate: Int = 44100, channels: Int = 2, depth: Int = 16, seed: UInt64 = 1) {
        format = PCMFormat(sampleRate: rate, channelCount: channels, bitDepth: depth)
        var generator = SeededGenerator(seed: seed)
        var level = [Int64](repeating: 0, count: channels)
        samples = (0..<frames * channels).map { index in
            let channel = index % channels
            // A random walk with full scale steps now and then.
            let noise = Int64(Int32(truncatingIfNeeded: generator.next()))
            level[channel] = index % 997 == 0 ? noise : (level[channel] * 15 + noise / 8) / 16
            let mask = UInt32.max << UInt32(32 - depth)
            return Int32(bitPattern: UInt32(bitPattern: Int32(clamping: level[channel])) & mask)
        }
    }

    /// The samples at the upper end of containers of `byteCount` bytes.
    func raw(byteCount: Int, bigEndian: Bool = false, unsigned: Bool = false) -> [UInt8] {
        let shift = UInt32(32 - 8 * byteCount)
        // Without closures and ranges: in a debug build they took half of the time of all tests of this module.
        return [UInt8](unsafeUninitializedCapacity: samples.count * byteCount) { bytes, count in
            var next = 0
            while count < bytes.count {
                let value = (UInt32(bitPattern: samples[next]) ^ (unsigned ? 0x8000_0000 : 0)) >> shift
                next += 1
                var byte = 0
                while byte < byteCount {
                    let place = bigEndian ? byteCount - 1 - byte : byte
                    bytes[count + place] = UInt8(truncatingIfNeeded: value >> UInt32(8 * byte))
                    byte += 1
                }
                count += byteCount
            }
        }
    }

    func slice(_ range: Range<Int>) -> [Int32] {
        Array(samples[(range.lowerBound * format.channelCount)..<(range.upperBound * format.channelCount)])
    }
}
