import Platform

/// The content of a `data:` URL (RFC 2397).
public struct DataURL: Equatable, Sendable {
    /// In lower case and without parameters: `application/vnd.apple.mpegurl`.
    public let mediaType: String
    public let bytes: [UInt8]

    /// - Returns: nil for another URL, and for content that does not match its description.
    public init?(_ url: String) {
        let text = Array(url.utf8)
        let prefix = text.prefix(5).map { $0.lowercased }
        guard prefix.elementsEqual("data:".utf8),
            let comma = text.firstIndex(of: UInt8(ascii: ","))
        else { return nil }
        let parts = text[5..<comma].split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        let type = (parts.first ?? []).map { $0.lowercased }
        mediaType = type.isEmpty ? "text/plain" : String(decoding: type, as: UTF8.self)
        guard let content = Self.decoded(text[(comma + 1)...]) else { return nil }
        if parts.count > 1, let last = parts.last, last.elementsEqual("base64".utf8) {
            guard let bytes = Base64.bytes(content) else { return nil }
            self.bytes = bytes
        } else {
            bytes = content
        }
    }

    /// Percent-encoding (RFC 3986, 2.1).
    private static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2,
                let value = Hexadecimal.bytes(String(decoding: rest.prefix(2), as: UTF8.self))
            else { return nil }
            bytes += value
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}
