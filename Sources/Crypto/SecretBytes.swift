import CMbedTLS
import Platform

/// A key or another secret. It has one owner, never grows, is compared in constant time, and is overwritten with zeros
/// when its owner releases it.
///
/// Any thread, one at a time.
public struct SecretBytes: ~Copyable {
    private let storage: UnsafeMutableRawBufferPointer

    /// Allocates `count` zero bytes for `fill` to write.
    public init(count: Int, filledBy fill: (UnsafeMutableRawBufferPointer) -> Void) {
        storage = .allocate(byteCount: count, alignment: 16)
        storage.initializeMemory(as: UInt8.self, repeating: 0)
        fill(storage)
    }

    /// Copies `bytes`. The array itself is not overwritten.
    public init(copying bytes: [UInt8]) {
        self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    /// Makes a new key of `count` random bytes.
    public init(randomCount count: Int, from source: some RandomSource = SystemRandomSource()) {
        self.init(count: count) { source.fill($0) }
    }

    deinit {
        if let base = storage.baseAddress { mbedtls_platform_zeroize(base, storage.count) }
        storage.deallocate()
    }

    /// The length in bytes.
    public var count: Int { storage.count }

    /// Lends the bytes; the pointer is valid only inside `body`.
    public borrowing func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(storage))
    }

    /// The bytes as a pointer for mbedTLS; valid as long as the secret.
    var pointer: UnsafePointer<UInt8>? { UnsafePointer(storage.baseAddress?.assumingMemoryBound(to: UInt8.self)) }
}

/// Returns whether two byte strings are equal, in a time that depends only on their length. For tags and codes that an
/// attacker can choose. Any thread.
public func equalInConstantTime(_ first: [UInt8], _ second: [UInt8]) -> Bool {
    first.count == second.count && mbedtls_ct_memcmp(first, second, first.count) == 0
}
