import Media
import PCM

/// A file of the music folder, as the index knows it.
struct Track: Equatable, Sendable {
    /// Stays the same as long as the index exists.
    var id: Int64
    /// As `FileName` writes it.
    var path: String
    /// The title, or else the name of the file.
    var name: String
    var stamp: FileStamp
    var container: AudioProperties.Container
    var codec: AudioProperties.Codec
    /// As `AudioProperties` has it.
    var aacObjectType: Int?
    var format: PCMFormat
    /// nil when the file does not say it.
    var frameCount: Int64?
    var metadata: TrackMetadata
    /// Where the tags have no value, the measured one, once there is one.
    var replayGain: ReplayGain
    var albumId: Int64?

    /// Names the content: it changes when the file does. Part of the addresses of content, since clients keep content
    /// by path.
    var version: String { stamp.text }

    /// In seconds.
    var duration: Double? { frameCount.map { Double($0) / Double(format.sampleRate) } }

    /// Whether the file is served as it is: encoding it once more would lose more.
    var isLossy: Bool {
        switch codec {
        case .aac, .mp3, .mp2, .vorbis, .opus, .alaw, .ulaw, .wavpackLossy: true
        case .flac, .alac, .pcm, .wavpack, .dsd: false
        }
    }

    /// The service's word for what the file holds.
    var audioQuality: String {
        if isLossy { return "HIGH" }
        return format.bitDepth > 16 || format.sampleRate > 48_000 ? "HI_RES_LOSSLESS" : "LOSSLESS"
    }
}

/// What tells that a file has not changed.
struct FileStamp: Equatable, Sendable {
    /// In bytes.
    var size: Int64
    /// When it was changed, in nanoseconds since 1970.
    var modified: Int64

    var text: String {
        String(UInt64(bitPattern: modified), radix: 16) + "-" + String(UInt64(bitPattern: size), radix: 16)
    }
    var modifiedSeconds: Int64 { modified / 1_000_000_000 }
}
