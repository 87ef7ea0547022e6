extension [UInt8] {
    /// A copy of bytes in memory. `Array.init` copies them, and parts of them, one by one in Embedded Swift.
    public init(copying bytes: UnsafeRawBufferPointer) {
        self.init(unsafeUninitializedCapacity: bytes.count) { memory, count in
            UnsafeMutableRawBufferPointer(memory).copyMemory(from: bytes)
            count = bytes.count
        }
    }
}
