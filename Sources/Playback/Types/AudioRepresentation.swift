import Media
import PCM

/// The representation of the audio that is heard. It may change inside a product (docs/playback.md, 15.11).
package struct AudioRepresentation: Equatable, Sendable {
    package var codec: String
    /// Bits per second, if known.
    package var bitRate: Int?
    package var quality: AudioQuality?

    package static func == (one: AudioRepresentation, other: AudioRepresentation) -> Bool {
        one.codec.utf8.elementsEqual(other.codec.utf8) && one.bitRate == other.bitRate && one.quality == other.quality
    }
}

extension PlaybackContext {
    package var representation: AudioRepresentation? {
        get { audioCodec.map { AudioRepresentation(codec: $0, bitRate: audioBitRate, quality: audioQuality) } }
        set {
            audioCodec = newValue?.codec
            audioBitRate = newValue?.bitRate
            audioQuality = newValue?.quality
        }
    }

    /// Returns the context with this representation of the audio.
    /// - Returns: nil when nothing changes.
    func changed(to representation: AudioRepresentation?) -> PlaybackContext? {
        guard let representation, self.representation != representation else { return nil }
        var changed = self
        changed.representation = representation
        return changed
    }

    /// Returns the context with the representation and the format of another context.
    /// - Returns: nil when nothing changes.
    func changed(as other: PlaybackContext) -> PlaybackContext? {
        let isSame =
            audioSampleRate == other.audioSampleRate && audioBitDepth == other.audioBitDepth
            && convertedSampleRate == other.convertedSampleRate && isDSDOverPCM == other.isDSDOverPCM
        guard let representation = other.representation, !isSame || self.representation != representation else {
            return nil
        }
        var changed = self
        changed.representation = representation
        changed.audioSampleRate = other.audioSampleRate
        changed.audioBitDepth = other.audioBitDepth
        changed.convertedSampleRate = other.convertedSampleRate
        changed.isDSDOverPCM = other.isDSDOverPCM
        return changed
    }
}

extension AudioQuality {
    /// The bit rate below which lossy audio counts as low, in bits per second.
    private static let highBitRate = 160_000

    /// The quality of audio for which the source names none.
    init(of properties: AudioProperties) {
        self =
            if properties.codec.isLossless {
                AudioQuality(lossless: properties.format)
            } else {
                (properties.bitRate ?? .max) < Self.highBitRate ? .low : .high
            }
    }

    /// Returns the quality that is heard when the source names this quality. A lossy codec is never lossless.
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
