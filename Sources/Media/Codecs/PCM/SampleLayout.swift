/// The layout of integer samples in a file.
struct SampleLayout: Equatable {
    /// Bytes of one sample, 1 to 4.
    var byteCount: Int
    /// Significant bits, 4 to 32, at the upper end of the bytes.
    var bitDepth: Int
    var isBigEndian: Bool
    /// WAV stores up to 8 bits with an offset instead of a sign.
    var isUnsigned = false

    /// Converts bytes to left-justified samples; the bits below `bitDepth` become zero.
    ///
    /// Unchecked: `bytes` holds `sampleCount * byteCount` bytes, `target` has room for `sampleCount` samples.
    @_optimize(speed) @inline(never)
    func unpack(_ bytes: UnsafePointer<UInt8>, sampleCount: Int, into target: UnsafeMutablePointer<Int32>) {
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
