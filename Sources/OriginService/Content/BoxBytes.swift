/// Boxes of the ISO base media file format (ISO/IEC 14496-12, 4.2), which can be nested.
struct BoxBytes {
    private(set) var bytes: [UInt8] = []

    /// Writes a box whose content `body` writes.
    mutating func box(_ type: StaticString, _ body: (inout BoxBytes) -> Void) {
        let start = bytes.count
        u32(0)
        ascii(type)
        body(&self)
        let size = UInt32(bytes.count - start)
        for index in 0..<4 { bytes[start + index] = UInt8(truncatingIfNeeded: size >> UInt32(24 - 8 * index)) }
    }

    /// Writes a box with a version and flags.
    mutating func fullBox(_ type: StaticString, version: UInt8 = 0, flags: UInt32 = 0, _ body: (inout BoxBytes) -> Void)
    {
        box(type) { box in
            box.u32(UInt32(version) << 24 | flags)
            body(&box)
        }
    }

    mutating func ascii(_ text: StaticString) { text.withUTF8Buffer { bytes += $0 } }
    mutating func u8(_ value: UInt8) { bytes.append(value) }
    mutating func u16(_ value: UInt16) { bytes += [UInt8(value >> 8), UInt8(value & 0xFF)] }
    mutating func u32(_ value: UInt32) {
        u16(UInt16(value >> 16))
        u16(UInt16(value & 0xFFFF))
    }
    mutating func u64(_ value: UInt64) {
        u32(UInt32(value >> 32))
        u32(UInt32(truncatingIfNeeded: value))
    }
    mutating func zeros(_ count: Int) { bytes += [UInt8](repeating: 0, count: count) }
    mutating func raw(_ more: [UInt8]) { bytes += more }
}
