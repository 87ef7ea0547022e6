import CLinux

/// The addresses at which other machines of the network reach this one.
public enum OwnAddresses {
    /// Returns the addresses as texts, those of IPv4 first; empty without a network. Reads them from the kernel without
    /// waiting.
    public static func texts() -> [String] {
        let addresses = LinkReader.links().flatMap { $0.addresses }.filter { $0.isAnnounced }
        let bytes = addresses.map { $0.address.bytes }
        // An address that is valid in its own link alone needs the name of an interface.
        let version6 = bytes.filter { $0.count == 16 && !($0[0] == 0xFE && $0[1] & 0xC0 == 0x80) }
        return (bytes.filter { $0.count == 4 } + version6).map { text($0) }
    }

    static func text(_ bytes: [UInt8]) -> String {
        if bytes.count == 4 { return bytes.map { "\($0)" }.joined(separator: ".") }
        let groups = stride(from: 0, to: 16, by: 2).map { Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]) }
        // RFC 5952, 4.2: the longest run of two or more zeros becomes ::.
        var (start, length) = (0, 0)
        for first in groups.indices {
            let run = groups[first...].prefix { $0 == 0 }.count
            if run > length { (start, length) = (first, run) }
        }
        func written(_ part: ArraySlice<Int>) -> String { part.map { String($0, radix: 16) }.joined(separator: ":") }
        if length < 2 { return written(groups[...]) }
        return written(groups[..<start]) + "::" + written(groups[(start + length)...])
    }
}
