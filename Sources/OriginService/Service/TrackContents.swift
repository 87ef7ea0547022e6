import Crypto
import Database
import HTTPServer
import Library
import Platform

/// The origin's key, from which the keys of content are derived.
/// `@unchecked Sendable` is safe because it never changes.
final class ContentSecret: @unchecked Sendable {
    private let key: SecretBytes

    init(_ key: [UInt8]) { self.key = SecretBytes(copying: key) }

    func encryption(of track: Track) -> ContentEncryption {
        ContentEncryption(of: ContentAddresses.folder(of: track), secret: key)
    }
}

/// Makes segments of tracks: of the unchanged FLAC, or of AAC that is encoded on the first request.
///
/// Thread: any. It blocks while a track is encoded.
struct TrackContents: Sendable {
    let index: MusicIndex
    /// The encoder's tracks; nil without an encoder.
    let encoded: EncodedTracks?
    /// The origin's key; nil without encryption.
    let secret: ContentSecret?

    enum Content {
        /// The unchanged file: it cannot be divided, or it is AAC already.
        case whole
        case flac(FragmentedFLAC)
        case aac(FragmentedAAC, EncodedQuality)
    }

    /// Returns the content to serve for a track.
    /// - Parameter quality: nil for lossless. Lossless is also returned when the track cannot be encoded.
    func content(_ track: Track, _ file: OpenedFile, _ quality: EncodedQuality?) throws(DatabaseError) -> Content {
        let encryption = secret?.encryption(of: track)
        if let quality, let aac = encoded?.track(track, quality, from: file, encryption) {
            return .aac(aac, quality)
        }
        guard let table = try SegmentTables(index: index).table(of: track, file) else { return .whole }
        return .flac(FragmentedFLAC(table, track.format, of: file, encryption: encryption))
    }

    /// Returns the content that an address means.
    /// - Returns: nil when it is not served in this variant.
    func content(
        _ track: Track, _ file: OpenedFile, _ variant: ContentVariant
    ) throws(DatabaseError) -> (any SegmentedTrack)? {
        guard variant.isEncrypted == (secret != nil) else { return nil }
        return switch try content(track, file, variant.encoding) {
        case .whole: nil
        case .flac(let flac): variant.encoding == nil ? flac : nil
        case .aac(let aac, _): aac
        }
    }
}

extension TrackContents.Content {
    var segmented: (any SegmentedTrack)? {
        switch self {
        case .whole: nil
        case .flac(let flac): flac
        case .aac(let aac, _): aac
        }
    }

    var quality: EncodedQuality? { if case .aac(_, let quality) = self { quality } else { nil } }
}
