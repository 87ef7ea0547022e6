import Media
import PCM

/// A file of the music folder, by the index.
struct Track: Equatable, Sendable {
    /// The number, which stays the same as long as the index exists.
    var id: Int64
    /// The path in the form of `FileName`.
    var path: String
    /// The title, or else the name of the file.
    var name: String
    var stamp: FileStamp
    var container: AudioProperties.Container
    var codec: AudioProperties.Codec
    /// The value of `AudioProperties`.
    var aacObjectType: Int?
    var format: PCMFormat
    /// The number of frames; nil when the file does not have it.
    var frameCount: Int64?
    var metadata: TrackMetadata
    /// The values of the tags; missing ones are measured, and nil until then.
    var replayGain: ReplayGain
    var albumId: Int64?

    /// Identifies the content: it changes with the file. It is part of the addresses of content, because clients cache
    /// content by path.
    var version: String { stamp.text }

    /// The duration in seconds.
    var duration: Double? { frameCount.map { Double($0) / Double(format.sampleRate) } }

    /// Whether the file is lossy. Such a file is served unchanged: encoding it again would lose more.
    var isLossy: Bool {
        switch codec {
        case .aac, .mp3, .mp2, .vorbis, .opus, .alaw, .ulaw, .wavpackLossy: true
        case .flac, .alac, .pcm, .wavpack, .dsd: false
        }
    }

    /// The service's name for the quality of the file.
    var audioQuality: String {
        if isLossy { return "HIGH" }
        return format.bitDepth > 16 || format.sampleRate > 48_000 ? "HI_RES_LOSSLESS" : "LOSSLESS"
    }
}

/// The values that show whether a file has changed.
struct FileStamp: Equatable, Sendable {
    /// The size in bytes.
    var size: Int64
    /// The time of the last change, in nanoseconds since 1970.
    var modified: Int64

    var text: String {
        String(UInt64(bitPattern: modified), radix: 16) + "-" + String(UInt64(bitPattern: size), radix: 16)
    }
    var modifiedSeconds: Int64 { modified / 1_000_000_000 }
}
