/// A service of this machine that others can find (RFC 6763).
package struct AnnouncedService: Sendable {
    /// The type with its protocol, like `_http._tcp`.
    package var type: String
    package var port: UInt16
    /// Attributes, `key=value` each, at most 255 bytes; longer ones are left out.
    package var texts: [String]

    package init(type: String, port: UInt16, texts: [String] = []) {
        self.type = type
        self.port = port
        self.texts = texts
    }

    /// The data of the TXT record: one empty text without attributes (RFC 6763, 6.1).
    var textData: [UInt8] {
        var data: [UInt8] = []
        for text in texts where text.utf8.count <= 255 {
            data.append(UInt8(text.utf8.count))
            data += text.utf8
        }
        return data.isEmpty ? [0] : data
    }
}
