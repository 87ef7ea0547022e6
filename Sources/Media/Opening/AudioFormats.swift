import Platform

/// The formats that can be decoded, for messages and for finding files.
public enum AudioFormats {
    /// The list for messages, after "Supported: ".
    public static var supported: String { FormatTable.all.labels }

    /// The endings of the names of files with audio, in lower case, without the dot. MP4 is one too: it may have FLAC.
    public static var fileNameEndings: [String] { FormatTable.all.suffixes() }

    /// Whether a codec can be decoded.
    /// - Parameter codec: as a manifest names it (RFC 6381, 3.3). An incomplete name (`mp4a`) counts as one that can be
    ///   decoded.
    public static func hasDecoder(for codec: String) -> Bool {
        let name = codec.lowercasedASCII
        let fields = Substring(name).utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        for row in FormatTable.all.codecs where row.has(name, fields) { return true }
        return false
    }
}
