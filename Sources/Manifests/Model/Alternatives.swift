/// The addresses of the same bytes, in the order of the manifest.
public struct Alternatives: Equatable, Sendable {
    /// An address, and the part that it shares with other resources: its folder, or itself.
    public struct Address: Equatable, Sendable {
        public var url: String
        public var base: String
    }

    /// The addresses; at least one.
    public let addresses: [Address]

    /// - Parameters:
    ///   - url: an address from the manifest.
    ///   - bases: as those of a `Representation`.
    public init(_ url: String, bases: [String]) {
        var found = [Address(url: url, base: url)]
        for (place, base) in bases.enumerated() {
            if base.utf8.elementsEqual(url.utf8) {
                found[0].base = base
                for (other, address) in bases.enumerated() where other != place {
                    found.append(Address(url: address, base: address))
                }
                break
            }
            let folder = Self.folder(of: base)
            guard url.utf8.starts(with: folder.utf8) else { continue }
            let rest = url.utf8.dropFirst(folder.utf8.count)
            found[0].base = base
            for (other, address) in bases.enumerated() where other != place {
                let text = Self.folder(of: address) + String(decoding: Array(rest), as: UTF8.self)
                found.append(Address(url: text, base: address))
            }
            break
        }
        addresses = found
    }

    /// The base of relative addresses, with the slash at its end.
    private static func folder(of url: String) -> String {
        let bytes = Array(url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
        var slashes = 0
        var end: Int?
        for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: "/") {
            slashes += 1
            // After the slashes of the scheme.
            if slashes > 2 { end = index }
        }
        guard let end else { return String(decoding: bytes, as: UTF8.self) + "/" }
        return String(decoding: bytes[...end], as: UTF8.self)
    }
}
