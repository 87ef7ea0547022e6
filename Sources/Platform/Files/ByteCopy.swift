/// A copy of bytes in memory. `Array.init` copies them, and parts of them, one by one in Embedded Swift.
public func copiedBytes(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: bytes.count) { memory, count in
        UnsafeMutableRawBufferPointer(memory).copyMemory(from: bytes)
        count = bytes.count
    }
}
