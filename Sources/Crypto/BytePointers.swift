// mbedTLS takes bytes as a pointer and a count; Swift has them as raw buffers.

extension UnsafeMutableRawBufferPointer {
    /// The first byte; nil when the buffer is empty, which mbedTLS accepts together with a count of 0.
    var bytePointer: UnsafeMutablePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }

    /// The first `count` bytes, and the rest.
    func split(at count: Int) -> (UnsafeMutableRawBufferPointer, UnsafeMutableRawBufferPointer) {
        (
            UnsafeMutableRawBufferPointer(rebasing: self[..<count]),
            UnsafeMutableRawBufferPointer(rebasing: self[count...])
        )
    }
}

extension UnsafeRawBufferPointer {
    /// The first byte; nil when the buffer is empty.
    var bytePointer: UnsafePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }
}

// The standard library's functions of these names lose the type of the error.
extension [UInt8] {
    func withRawBytes<Result>(
        _ body: (UnsafeRawBufferPointer) throws(CryptoError) -> Result
    ) throws(CryptoError) -> Result {
        try withUnsafeBufferPointer { (bytes) throws(CryptoError) in try body(UnsafeRawBufferPointer(bytes)) }
    }

    mutating func withMutableRawBytes<Result>(
        _ body: (UnsafeMutableRawBufferPointer) throws(CryptoError) -> Result
    ) throws(CryptoError) -> Result {
        try withUnsafeMutableBufferPointer { (bytes) throws(CryptoError) in
            try body(UnsafeMutableRawBufferPointer(bytes))
        }
    }
}
