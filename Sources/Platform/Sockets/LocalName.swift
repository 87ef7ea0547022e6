/// Names of machines that no name server of the internet has.
public enum LocalName {
    /// RFC 6762, RFC 8375, and `internal`, which ICANN has reserved.
    private static let domains = [".local", ".home.arpa", ".internal"]

    /// Whether a name can only mean a machine of this network: it has no dot, or is under such a domain.
    /// - Parameter name: a name in lower case, and not an address. It may end with a dot.
    public static func isLocal(_ name: String) -> Bool {
        let bytes = name.utf8.last == UInt8(ascii: ".") ? name.utf8.dropLast() : name.utf8[...]
        if bytes.isEmpty { return false }
        if !bytes.contains(UInt8(ascii: ".")) { return true }
        return domains.contains {
            bytes.count > $0.utf8.count && bytes.suffix($0.utf8.count).elementsEqual($0.utf8)
        }
    }
}
