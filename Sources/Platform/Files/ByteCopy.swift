/// Returns a copy of bytes in memory. `Array.init` copies bytes one by one in Embedded Swift, and so do slices.
public func copiedBytes(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: bytes.count) { memory, count in
        UnsafeMutableRawBufferPointer(memory).copyMemory(from: bytes)
        count = bytes.count
    }
}
