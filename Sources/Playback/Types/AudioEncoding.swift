import Media
import PCM

/// The representation of the audio that is heard. It may change inside a product (docs/playback.md, 15.11).
struct AudioEncoding: Equatable, Sendable {
    var codec: String
    /// Bits per second, if known.
    var bitRate: Int?
    var quality: AudioQuality?

    static func == (one: AudioEncoding, other: AudioEncoding) -> Bool {
        one.codec.utf8.elementsEqual(other.codec.utf8) && one.bitRate == other.bitRate && one.quality == other.quality
    }
}

extension PlaybackContext {
    var encoding: AudioEncoding? {
        get { audioCodec.map { AudioEncoding(codec: $0, bitRate: audioBitRate, quality: audioQuality) } }
        set {
            audioCodec = newValue?.codec
            audioBitRate = newValue?.bitRate
            audioQuality = newValue?.quality
        }
    }

    /// Returns the context with this representation of the audio.
    /// - Returns: nil when nothing changes.
    func changed(to encoding: AudioEncoding?) -> PlaybackContext? {
        guard let encoding, self.encoding != encoding else { return nil }
        var changed = self
        changed.encoding = encoding
        return changed
    }

    /// Returns the context with the representation and the format of another context.
    /// - Returns: nil when nothing changes.
    func changed(as other: PlaybackContext) -> PlaybackContext? {
        let isSame =
            audioSampleRate == other.audioSampleRate && audioBitDepth == other.audioBitDepth
            && convertedSampleRate == other.convertedSampleRate && isDSDOverPCM == other.isDSDOverPCM
        guard let encoding = other.encoding, !isSame || self.encoding != encoding else { return nil }
        var changed = self
        changed.encoding = encoding
        changed.audioSampleRate = other.audioSampleRate
        changed.audioBitDepth = other.audioBitDepth
        changed.convertedSampleRate = other.convertedSampleRate
        changed.isDSDOverPCM = other.isDSDOverPCM
        return changed
    }
}

extension AudioQuality {
    /// Below this, lossy audio counts as low. In bits per second.
    private static let highBitRate = 160_000

    /// The quality of audio for which the source names none.
    init(of properties: AudioProperties) {
        switch properties.codec {
        case .aac, .mp3, .mp2, .vorbis, .opus, .alaw, .ulaw, .wavpackLossy:
            self = (properties.bitRate ?? .max) < Self.highBitRate ? .low : .high
        case .flac, .alac, .pcm, .wavpack, .dsd: self = AudioQuality(lossless: properties.format)
        }
    }

    /// Returns the quality that is heard where the source named this one: a lossy codec is never lossless.
    func heard(in properties: AudioProperties) -> AudioQuality {
        let decoded = AudioQuality(of: properties)
        return isLossless && !decoded.isLossless ? decoded : self
    }

    private var isLossless: Bool {
        switch self {
        case .low, .high: false
        case .lossless, .hiRes, .hiResLossless: true
        }
    }

    /// Lossless formats beyond those of a CD are high resolution.
    package init(lossless format: PCMFormat) {
        self = format.bitDepth > 16 || format.sampleRate > 48_000 ? .hiResLossless : .lossless
    }
}
