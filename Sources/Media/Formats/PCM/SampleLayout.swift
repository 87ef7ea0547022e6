/// The layout of samples in a file.
struct SampleLayout: Equatable {
    enum Coding: Equatable {
        case integer
        /// IEEE 754, in 4 or 8 bytes.
        case float
        /// ITU-T G.711, in one byte.
        case aLaw, muLaw
    }

    /// Bytes of one sample: 1 to 4, or 8.
    var byteCount: Int
    /// Significant bits of a decoded sample, 4 to 32. Those of an integer are at the upper end of the bytes.
    var bitDepth: Int
    var isBigEndian: Bool
    /// WAV stores up to 8 bits with an offset instead of a sign.
    var isUnsigned = false
    var coding = Coding.integer

    static let aLaw = SampleLayout(byteCount: 1, bitDepth: 13, isBigEndian: false, coding: .aLaw)
    static let muLaw = SampleLayout(byteCount: 1, bitDepth: 14, isBigEndian: false, coding: .muLaw)

    /// - Parameter bits: 32 or 64.
    static func float(bits: Int, isBigEndian: Bool) -> SampleLayout {
        SampleLayout(byteCount: bits / 8, bitDepth: 32, isBigEndian: isBigEndian, coding: .float)
    }

    var codec: AudioProperties.Codec {
        switch coding {
        case .integer, .float: .pcm
        case .aLaw: .alaw
        case .muLaw: .ulaw
        }
    }

    /// Converts bytes to left-justified samples; the bits below `bitDepth` become zero.
    ///
    /// Unchecked: `bytes` holds `sampleCount * byteCount` bytes, `target` has room for `sampleCount` samples.
    func unpack(_ bytes: UnsafePointer<UInt8>, sampleCount: Int, into target: UnsafeMutablePointer<Int32>) {
        switch coding {
        case .integer: unpackIntegers(bytes, sampleCount: sampleCount, into: target)
        case .float where byteCount == 4:
            UnpackedSamples.float32(bytes, isBigEndian: isBigEndian, count: sampleCount, into: target)
        case .float: UnpackedSamples.float64(bytes, isBigEndian: isBigEndian, count: sampleCount, into: target)
        case .aLaw: UnpackedSamples.aLaw(bytes, count: sampleCount, into: target)
        case .muLaw: UnpackedSamples.muLaw(bytes, count: sampleCount, into: target)
        }
    }

    @_optimize(speed) @inline(never)
    private func unpackIntegers(
        _ bytes: UnsafePointer<UInt8>, sampleCount: Int, into target: UnsafeMutablePointer<Int32>
    ) {
        let mask = UInt32.max &<< UInt32(32 - bitDepth)
        // One loop for each layout, so that each becomes vector code.
        switch (byteCount, isBigEndian) {
        case (1, _):
            let offset: UInt32 = isUnsigned ? 0x8000_0000 : 0
            loop(sampleCount, target, mask) { (UInt32(bytes[$0]) &<< 24) ^ offset }
        case (2, false):
            loop(sampleCount, target, mask) {
                let byte = bytes + ($0 &* 2)
                return UInt32(byte[0]) &<< 16 | UInt32(byte[1]) &<< 24
            }
        case (2, true):
            loop(sampleCount, target, mask) {
                let byte = bytes + ($0 &* 2)
                return UInt32(byte[1]) &<< 16 | UInt32(byte[0]) &<< 24
            }
        case (3, false):
            loop(sampleCount, target, mask) {
                let byte = bytes + ($0 &* 3)
                return UInt32(byte[0]) &<< 8 | UInt32(byte[1]) &<< 16 | UInt32(byte[2]) &<< 24
            }
        case (3, true):
            loop(sampleCount, target, mask) {
                let byte = bytes + ($0 &* 3)
                return UInt32(byte[2]) &<< 8 | UInt32(byte[1]) &<< 16 | UInt32(byte[0]) &<< 24
            }
        case (_, false):
            loop(sampleCount, target, mask) {
                let byte = bytes + ($0 &* 4)
                return UInt32(byte[0]) | UInt32(byte[1]) &<< 8 | UInt32(byte[2]) &<< 16 | UInt32(byte[3]) &<< 24
            }
        case (_, true):
            loop(sampleCount, target, mask) {
                let byte = bytes + ($0 &* 4)
                return UInt32(byte[3]) | UInt32(byte[2]) &<< 8 | UInt32(byte[1]) &<< 16 | UInt32(byte[0]) &<< 24
            }
        }
    }

    @inline(__always)
    private func loop(
        _ sampleCount: Int, _ target: UnsafeMutablePointer<Int32>, _ mask: UInt32, _ sample: (Int) -> UInt32
    ) {
        var index = 0
        while index < sampleCount {
            target[index] = Int32(bitPattern: sample(index) & mask)
            index &+= 1
        }
    }
}
