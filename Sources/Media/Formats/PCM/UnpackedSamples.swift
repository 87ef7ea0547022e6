/// Samples in a file that are not integers, as left-justified integers.
///
/// Unchecked: the memory is there.
enum UnpackedSamples {
    @_optimize(speed) @inline(never)
    static func float32(
        _ bytes: UnsafePointer<UInt8>, isBigEndian: Bool, count: Int, into target: UnsafeMutablePointer<Int32>
    ) {
        let source = UnsafeRawPointer(bytes)
        var index = 0
        while index < count {
            let word = source.loadUnaligned(fromByteOffset: index &* 4, as: UInt32.self)
            let pattern = isBigEndian ? UInt32(bigEndian: word) : UInt32(littleEndian: word)
            target[index] = FloatSamples.in32Bits(Double(Float(bitPattern: pattern)))
            index &+= 1
        }
    }

    @_optimize(speed) @inline(never)
    static func float64(
        _ bytes: UnsafePointer<UInt8>, isBigEndian: Bool, count: Int, into target: UnsafeMutablePointer<Int32>
    ) {
        let source = UnsafeRawPointer(bytes)
        var index = 0
        while index < count {
            let word = source.loadUnaligned(fromByteOffset: index &* 8, as: UInt64.self)
            let pattern = isBigEndian ? UInt64(bigEndian: word) : UInt64(littleEndian: word)
            target[index] = FloatSamples.in32Bits(Double(bitPattern: pattern))
            index &+= 1
        }
    }

    /// A-law: 13 bits in 8 (ITU-T G.711, table 1).
    @inline(never)
    static func aLaw(_ bytes: UnsafePointer<UInt8>, count: Int, into target: UnsafeMutablePointer<Int32>) {
        var index = 0
        while index < count {
            // Every second bit is inverted.
            let code = Int32(bytes[index] ^ 0x55)
            let segment = code &>> 4 & 7
            let step = (code & 15) &<< 1 &+ 1
            let size = segment == 0 ? step : (step &+ 32) &<< (segment &- 1)
            target[index] = (code & 0x80 != 0 ? size : 0 &- size) &<< 19
            index &+= 1
        }
    }

    /// Mu-law: 14 bits in 8 (ITU-T G.711, table 2).
    @inline(never)
    static func muLaw(_ bytes: UnsafePointer<UInt8>, count: Int, into target: UnsafeMutablePointer<Int32>) {
        var index = 0
        while index < count {
            let code = Int32(~bytes[index])
            let size = ((code & 15) &<< 1 &+ 33) &<< (code &>> 4 & 7) &- 33
            target[index] = (code & 0x80 != 0 ? 0 &- size : size) &<< 18
            index &+= 1
        }
    }
}
