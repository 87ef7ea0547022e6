import CLinux

/// Memory that the system does not provide, or that does not fit into the address space.
public struct OutOfMemory: Error, Equatable, Sendable, CustomStringConvertible {
    /// The requested size; `Int64.max` when it was more.
    public let byteCount: Int64

    public init(byteCount: Int64) { self.byteCount = byteCount }

    /// The memory that is missing, for a person.
    public var description: String { "not enough memory: \(byteCount / 1_048_576) MiB are needed" }
}

/// Pages of zeros from the system. A page that is never written takes no memory.
enum ZeroPages {
    static func map(byteCount: Int64) throws(OutOfMemory) -> UnsafeMutableRawPointer {
        // Pointers into one object differ by no more than `Int.max`.
        guard let size = Int(exactly: byteCount), size > 0 else { throw OutOfMemory(byteCount: byteCount) }
        let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        // MAP_FAILED is -1.
        guard let memory, Int(bitPattern: memory) != -1 else { throw OutOfMemory(byteCount: byteCount) }
        return memory
    }
}
