import Media
import PCM

/// Plays a stretch of another decoder's audio: a period that uses a part of a file or of segments, or a track of a cue
/// sheet.
///
/// The audio may change its format. Positions are in frames of the first one.
///
/// Thread: the decoder thread.
package final class ClippedDecoder: AudioDecoder {
    private let decoder: any AudioDecoder
    private let ownMetadata: TrackMetadata?
    private let rate: Int
    private let start: Int64
    /// The number of frames; nil for all frames to the end.
    private let count: Int64?
    private var position: FramePosition
    /// The sample rate of the next frames.
    private var currentRate: Int
    /// False until the first read has moved the decoder to the first frame of the clip.
    private var isPlaced: Bool

    /// - Parameters:
    ///   - start: the first frame, of the audio's first format.
    ///   - count: the number of frames in that format; nil for all frames to the end.
    ///   - metadata: nil for the metadata of the decoder.
    init(_ decoder: any AudioDecoder, from start: Int64, count: Int64?, metadata: TrackMetadata? = nil) {
        self.decoder = decoder
        ownMetadata = metadata
        rate = decoder.properties.format.sampleRate
        self.start = start
        self.count = count
        isPlaced = start == 0
        currentRate = rate
        position = FramePosition(rate: rate)
    }

    /// - Parameters:
    ///   - clip: the range in seconds of the media's own timeline; the upper bound may be infinite.
    ///   - mediaStart: the time of the first frame, in the same seconds; nil: the media defines it.
    package convenience init(_ decoder: any AudioDecoder, _ clip: Range<Double>, mediaStart: Double? = nil) {
        let rate = Double(decoder.properties.format.sampleRate)
        // Media that begins after the clip, because its offset is unknown, is played from its beginning.
        let origin = min(mediaStart ?? decoder.properties.mediaStart, max(0, clip.lowerBound))
        let start = Self.frame((clip.lowerBound - origin) * rate)
        let count = clip.upperBound.isFinite ? max(0, Self.frame((clip.upperBound - origin) * rate) - start) : nil
        self.init(decoder, from: start, count: count)
    }

    private static func frame(_ value: Double) -> Int64 { Int64(max(0, min(value.rounded(), 1e15))) }

    package var properties: AudioProperties {
        var properties = decoder.properties
        let known = properties.frameCount.map { max(0, $0 - start) }
        properties.frameCount = if let known, let count { min(known, count) } else { count ?? known }
        // The digest of the file does not apply to a part of it.
        properties.sampleDigest = nil
        return properties
    }

    package var metadata: TrackMetadata { ownMetadata ?? decoder.metadata }

    package var damage: DamageReport {
        var damage = decoder.damage
        // Frames after the clip are not missing.
        if let count, position.frame >= count { damage.truncated = false }
        return damage
    }

    package var dsdWords: (any AudioDecoder)? {
        guard let words = decoder.dsdWords else { return nil }
        let ratio = Int64(words.properties.format.sampleRate / rate)
        return ClippedDecoder(words, from: start * ratio, count: count.map { $0 * ratio }, metadata: ownMetadata)
    }

    package func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(MediaError) -> DecodedRun {
        if !isPlaced {
            try decoder.seek(toFrame: start)
            isPlaced = true
        }
        let left = count.map { ($0 - position.frame).frames(from: rate, to: currentRate) }
        if let left, left <= 0 { return .end }
        let run = try decoder.read(into: buffer)
        switch run {
        case .frames(let frames):
            let taken = left.map { Int(min(Int64(frames), $0)) } ?? frames
            position.read(taken)
            return .frames(taken)
        case .format(let format):
            currentRate = format.sampleRate
            position.changed(to: currentRate)
            return run
        case .notYet, .end: return run
        }
    }

    package func seek(toFrame frame: Int64) throws(MediaError) {
        let target = max(0, min(frame, count ?? .max))
        position = FramePosition(target, rate: rate, currentRate: currentRate)
        isPlaced = true
        try decoder.seek(toFrame: start + min(target, .max - start))
    }

    package func whenReadable(_ wake: @escaping @Sendable () -> Void) { decoder.whenReadable(wake) }
}
