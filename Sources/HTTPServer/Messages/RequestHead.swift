import Platform

/// The head of a request as it arrived. A value, which knows whether everybody who reads it understands it in the same
/// way: a proxy that took another host, path or length of the body from it could be led around its own rules (RFC 9112,
/// 11.2).
struct RequestHead {
    /// The target with its query, as it was sent.
    var target: String
    /// `HTTP/1.1`.
    var version: String
    /// The fields in their order, including repeated ones.
    var fields: [(name: String, value: String)] = []

    /// Returns why the request is not answered; nil when it is.
    var mistake: String? {
        if isZeroInTarget { return "the address has a zero byte (%00)" }
        if fields.contains(where: { $0.name.isEmpty || !$0.name.utf8.allSatisfy(Self.isOfToken) }) {
            return "the name of a header has a blank or another character that is not allowed"
        }
        let hosts = values("host")
        if hosts.count > 1 { return "there are \(hosts.count) Host headers: send one" }
        if hosts.isEmpty, isOfVersion("HTTP/1.1") { return "the header Host is missing" }
        return mistakeOfLength
    }

    private var mistakeOfLength: String? {
        let (lengths, codings) = (values("content-length"), values("transfer-encoding"))
        guard lengths.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else {
            return "Content-Length is not a number"
        }
        guard lengths.allSatisfy({ $0.utf8.elementsEqual(lengths[0].utf8) }) else {
            return "there are Content-Length headers with different lengths: send one"
        }
        if codings.isEmpty { return nil }
        guard codings.count == 1, codings[0].lowercasedASCII.utf8.elementsEqual("chunked".utf8) else {
            return "the only Transfer-Encoding here is chunked"
        }
        if !lengths.isEmpty { return "there are Content-Length and Transfer-Encoding: send one of them" }
        return isOfVersion("HTTP/1.0") ? "HTTP/1.0 has no Transfer-Encoding" : nil
    }

    /// A path that is used as text of the C library would end there.
    private var isZeroInTarget: Bool {
        let bytes = Array(target.utf8)
        for index in bytes.indices.dropLast(2) where bytes[index] == UInt8(ascii: "%") {
            if bytes[index + 1] == UInt8(ascii: "0"), bytes[index + 2] == UInt8(ascii: "0") { return true }
        }
        return false
    }

    private func values(_ name: StaticString) -> [String] {
        fields.compactMap { field in
            let given = field.name.lowercasedASCII
            return name.withUTF8Buffer { given.utf8.elementsEqual($0) } ? field.value : nil
        }
    }

    private func isOfVersion(_ text: StaticString) -> Bool { text.withUTF8Buffer { version.utf8.elementsEqual($0) } }

    /// RFC 9110, 5.6.2.
    private static func isOfToken(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
