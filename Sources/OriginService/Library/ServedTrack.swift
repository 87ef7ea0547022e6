import Library
import Media

extension Track {
    /// Identifies the content: it changes with the file. It is part of the addresses of content, because clients cache
    /// content by path.
    var version: String { stamp.text }

    /// Whether the file is lossy. Such a file is served unchanged: encoding it again would lose more.
    var isLossy: Bool { !codec.isLossless }

    /// The service's name for the quality of the file.
    var audioQuality: String {
        if isLossy { return "HIGH" }
        return format.bitDepth > 16 || format.sampleRate > 48_000 ? "HI_RES_LOSSLESS" : "LOSSLESS"
    }
}

extension ScanRules {
    /// The files that the service has. A track is a file, so cue sheets are not read.
    static let service = ScanRules(
        audioEndings: FormatTable.all.suffixes { $0 != .adts && $0 != .matroska },
        playlistEndings: ["m3u8", "m3u"], readsSheets: false, followsAllLinks: true)
}
