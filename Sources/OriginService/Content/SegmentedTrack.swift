import HTTPServer
import Library
import Media
import PCM

/// A track in segments, of one codec and quality.
protocol SegmentedTrack {
    var track: CMAFTrack { get }
    var segments: [SegmentTable.Segment] { get }
    /// - Parameter number: the number of the segment, from 1.
    /// - Returns: nil without such a segment.
    /// - Throws: `.damaged` when the file has other frames than before.
    func segment(_ number: Int) throws(MediaError) -> ContentBody?
}

extension SegmentedTrack {
    /// The length that is heard, in samples of the audio.
    var heardCount: Int64 { track.edit.map { Int64($0.count) } ?? track.duration }

    /// The highest bit rate of a segment, in bits per second.
    var peakBitRate: Int {
        let rate = Double(track.format.sampleRate)
        return Int((segments.map { Double($0.byteCount) * 8 * rate / Double($0.sampleCount) }.max() ?? 0).rounded(.up))
    }
}

/// The variant of a track's content in an address: the first part of the names in its folder.
struct ContentVariant: Equatable, Sendable {
    /// The quality to encode; nil for that of the file.
    var encoding: EncodedQuality?
    var isEncrypted = false

    /// The prefix of the names `init.mp4`, `3.mp4` and `playlist.m3u8`. Encrypted content has other names, because
    /// clients cache content by path.
    var prefix: String { (encoding.map { "\($0.rawValue)-" } ?? "") + (isEncrypted ? "cbcs-" : "") }

    /// Removes the prefix from a name.
    init(parsing name: inout Substring) {
        for quality in EncodedQuality.allCases where name.hasPrefix("\(quality.rawValue)-") {
            encoding = quality
            name = name.dropFirst(quality.rawValue.utf8.count + 1)
        }
        if name.hasPrefix("cbcs-") {
            isEncrypted = true
            name = name.dropFirst(5)
        }
    }

    init(encoding: EncodedQuality? = nil, isEncrypted: Bool = false) {
        self.encoding = encoding
        self.isEncrypted = isEncrypted
    }
}
