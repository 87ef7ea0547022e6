import CMbedTLS
import Platform

/// A key or another secret. It has one owner, never grows, is compared in constant time, and is overwritten with zeros
/// when its owner lets go of it.
///
/// Any thread, one at a time.
public struct SecretBytes: ~Copyable {
    private let storage: UnsafeMutableRawBufferPointer

    /// `count` bytes that `fill` writes; they are zero before.
    public init(count: Int, filledBy fill: (UnsafeMutableRawBufferPointer) -> Void) {
        storage = .allocate(byteCount: count, alignment: 16)
        storage.initializeMemory(as: UInt8.self, repeating: 0)
        fill(storage)
    }

    /// A copy of `bytes`. The array itself is not overwritten.
    public init(copying bytes: [UInt8]) {
        self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    /// `count` random bytes: a new key.
    public init(randomCount count: Int, from source: some RandomSource = SystemRandomSource()) {
        self.init(count: count) { source.fill($0) }
    }

    deinit {
        if let base = storage.baseAddress { mbedtls_platform_zeroize(base, storage.count) }
        storage.deallocate()
    }

    /// In bytes.
    public var count: Int { storage.count }

    /// Lends the bytes; the pointer is valid only inside `body`.
    public borrowing func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(storage))
    }

    /// The bytes as pointer and count for mbedTLS; valid while the secret is.
    var pointer: UnsafePointer<UInt8>? { UnsafePointer(storage.baseAddress?.assumingMemoryBound(to: UInt8.self)) }
}

/// Whether two byte strings are equal, in a time that depends on their length only. For tags and codes that an attacker
/// can choose. Any thread.
public func equalInConstantTime(_ first: [UInt8], _ second: [UInt8]) -> Bool {
    first.count == second.count && mbedtls_ct_memcmp(first, second, first.count) == 0
}
