/// Reads bits of an ALAC packet, the highest one first. After the end it reads zeros, and is then `isBeyond`.
///
/// Unchecked: the memory must have `padding` more bytes after the packet.
struct ALACBits {
    /// The bytes after a packet. One step of any reader takes fewer.
    static let padding = 16

    let bytes: UnsafeRawPointer
    /// The end of the packet, in bits.
    let end: Int
    var position = 0

    init(_ bytes: UnsafeRawPointer, byteCount: Int) {
        self.bytes = bytes
        end = byteCount * 8
    }

    var isBeyond: Bool { position > end }
    var remaining: Int { end - position }

    /// The next bits, the first one at the top. At least 57 of them are valid.
    /// - Parameter position: at most the end.
    @inline(__always)
    static func window(_ bytes: UnsafeRawPointer, _ position: Int) -> UInt64 {
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: position &>> 3, as: UInt64.self))
            &<< UInt64(position & 7)
    }

    /// - Parameter count: 1 to 32.
    @inline(__always)
    mutating func read(_ count: Int) -> UInt32 {
        guard position <= end &- count else {
            position = end + 1
            return 0
        }
        let value = Self.window(bytes, position) &>> UInt64(64 &- count)
        position &+= count
        return UInt32(truncatingIfNeeded: value)
    }

    /// A number with a sign.
    /// - Parameter count: 1 to 32.
    @inline(__always)
    mutating func readSigned(_ count: Int) -> Int32 {
        let unused = Int32(32 &- count)
        return (Int32(bitPattern: read(count)) &<< unused) &>> unused
    }

    mutating func skip(_ count: Int) {
        position = count >= 0 && count <= remaining ? position + count : end + 1
    }

    mutating func alignToByte() { position = (position + 7) & ~7 }
}
