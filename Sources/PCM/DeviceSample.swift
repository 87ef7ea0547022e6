/// How a sample lies in a device's memory: what the loops of `SampleLoops` are specialised for.
protocol DeviceSample {
    /// Bits that are dropped from the left-justified 32.
    static var droppedBits: Int64 { get }

    /// Writes a sample of `32 - droppedBits` bits, saturating it to that range: the only place that saturates.
    static func store(_ value: Int64, at index: Int, in memory: UnsafeMutableRawPointer)
}

extension DeviceSample {
    /// The nearest value of the format's precision.
    @inline(__always)
    static func clamp(_ value: Int64) -> Int32 {
        let shift = UInt32(truncatingIfNeeded: droppedBits)
        let highest = Int64(Int32.max &>> shift)
        return Int32(truncatingIfNeeded: min(max(value, ~highest), highest))
    }
}

enum S32: DeviceSample {
    static var droppedBits: Int64 { 0 }

    @inline(__always)
    static func store(_ value: Int64, at index: Int, in memory: UnsafeMutableRawPointer) {
        memory.assumingMemoryBound(to: Int32.self)[index] = Int32(clamping: value)
    }
}

enum S24: DeviceSample {
    static var droppedBits: Int64 { 8 }

    @inline(__always)
    static func store(_ value: Int64, at index: Int, in memory: UnsafeMutableRawPointer) {
        memory.assumingMemoryBound(to: Int32.self)[index] = clamp(value)
    }
}

enum S24Packed: DeviceSample {
    static var droppedBits: Int64 { 8 }

    @inline(__always)
    static func store(_ value: Int64, at index: Int, in memory: UnsafeMutableRawPointer) {
        let bits = UInt32(bitPattern: clamp(value))
        let bytes = memory.assumingMemoryBound(to: UInt8.self) + 3 &* index
        bytes[0] = UInt8(truncatingIfNeeded: bits)
        bytes[1] = UInt8(truncatingIfNeeded: bits &>> 8)
        bytes[2] = UInt8(truncatingIfNeeded: bits &>> 16)
    }
}

enum S16: DeviceSample {
    static var droppedBits: Int64 { 16 }

    @inline(__always)
    static func store(_ value: Int64, at index: Int, in memory: UnsafeMutableRawPointer) {
        memory.assumingMemoryBound(to: Int16.self)[index] = Int16(clamping: value)
    }
}
