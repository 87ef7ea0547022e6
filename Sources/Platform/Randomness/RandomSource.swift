import CLinux

/// A source of random bytes: the kernel, or known bytes in a test.
public protocol RandomSource: AnyObject {
    /// Fills `buffer`.
    func fill(_ buffer: UnsafeMutableRawBufferPointer)
}

/// The kernel's getrandom(2): suitable for keys. Any thread. Blocks only in the first moments after the system's start.
public final class SystemRandomSource: RandomSource, Sendable {
    public init() {}

    public func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        var done = 0
        while done < buffer.count {
            let count = getrandom(buffer.baseAddress! + done, buffer.count - done, 0)
            if count > 0 { done += count } else { precondition(tonearm_errno() == EINTR, "getrandom") }
        }
    }
}

extension RandomSource {
    /// Returns `count` random bytes.
    public func bytes(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        bytes.withUnsafeMutableBytes { fill($0) }
        return bytes
    }

    /// Returns a random UUID (RFC 9562, version 4) in lower case: `f81d4fae-7dec-41d0-a765-00a0c91e6bf6`.
    public func uuid() -> String {
        var bytes = bytes(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { hexadecimal(bytes[$0]) }.joined(separator: "-")
    }
}
