/// The layout of a sample in a device's memory: `SampleLoops` is specialised for it.
protocol DeviceSample {
    /// Low bits that the format drops.
    static var droppedBits: Int32 { get }

    /// Writes one sample, which must be in the format's range.
    static func store(_ sample: Int32, at index: Int, in memory: UnsafeMutableRawPointer)
}

extension DeviceSample {
    /// The format's largest sample; `~highest` is the smallest.
    @inline(__always)
    static var highest: Int32 { Int32.max &>> droppedBits }
}

enum S32: DeviceSample {
    @inline(__always)
    static var droppedBits: Int32 { 0 }

    @inline(__always)
    static func store(_ sample: Int32, at index: Int, in memory: UnsafeMutableRawPointer) {
        memory.assumingMemoryBound(to: Int32.self)[index] = sample
    }
}

/// 24 bits, left-justified in 4 bytes: S32_LE for a converter that drops the lowest 8 bits.
enum S32Of24: DeviceSample {
    @inline(__always)
    static var droppedBits: Int32 { 8 }

    @inline(__always)
    static func store(_ sample: Int32, at index: Int, in memory: UnsafeMutableRawPointer) {
        memory.assumingMemoryBound(to: Int32.self)[index] = sample &<< 8
    }
}

enum S24: DeviceSample {
    @inline(__always)
    static var droppedBits: Int32 { 8 }

    @inline(__always)
    static func store(_ sample: Int32, at index: Int, in memory: UnsafeMutableRawPointer) {
        memory.assumingMemoryBound(to: Int32.self)[index] = sample
    }
}

enum S24Packed: DeviceSample {
    @inline(__always)
    static var droppedBits: Int32 { 8 }

    @inline(__always)
    static func store(_ sample: Int32, at index: Int, in memory: UnsafeMutableRawPointer) {
        let bytes = memory.assumingMemoryBound(to: UInt8.self) + 3 &* index
        bytes[0] = UInt8(truncatingIfNeeded: sample)
        bytes[1] = UInt8(truncatingIfNeeded: sample &>> 8)
        bytes[2] = UInt8(truncatingIfNeeded: sample &>> 16)
    }
}

enum S16: DeviceSample {
    @inline(__always)
    static var droppedBits: Int32 { 16 }

    @inline(__always)
    static func store(_ sample: Int32, at index: Int, in memory: UnsafeMutableRawPointer) {
        memory.assumingMemoryBound(to: Int16.self)[index] = Int16(truncatingIfNeeded: sample)
    }
}
