import Platform

extension AudioSpecificConfig {
    /// Whether a codec that a manifest names is AAC that can be decoded (RFC 6381, 3.3). An incomplete name counts as
    /// one.
    /// - Parameter fields: the parts of its name between points, in lower case.
    static func isDecoded(_ fields: [Substring.UTF8View]) -> Bool {
        guard let name = fields.first, name.elementsEqual("mp4a".utf8) else { return false }
        guard fields.count > 1 else { return true }
        // The object type in hexadecimal: AAC-LC of MPEG-2 (67), or MPEG-4 audio (40) with the audio object type in
        // decimal.
        if fields[1].elementsEqual("67".utf8) { return true }
        guard fields[1].elementsEqual("40".utf8) else { return false }
        guard fields.count > 2 else { return true }
        var type: UInt32 = 0
        for byte in fields[2] {
            guard let digit = byte.digit, type < 100 else { return false }
            type = type * 10 + UInt32(digit)
        }
        return !fields[2].isEmpty && ObjectType.isDecoded(type)
    }
}
