import Media
import PCM

/// Plays a stretch of another decoder's audio: a period that takes a part of a file.
///
/// Thread: the decoder thread.
final class ClippedDecoder: AudioDecoder {
    private let decoder: any AudioDecoder
    private let start: Int64
    /// nil: to the end.
    private let count: Int64?
    private var position: Int64 = 0
    /// The first read has to go to the start.
    private var isPlaced: Bool

    /// - Parameter clip: in seconds of the file's own timeline; the upper bound may be infinite.
    init(_ decoder: any AudioDecoder, _ clip: Range<Double>) {
        self.decoder = decoder
        let rate = Double(decoder.properties.format.sampleRate)
        // A file that begins behind the clip, because its offset is not said, is played from its beginning.
        let origin = min(decoder.properties.mediaStart, max(0, clip.lowerBound))
        let start = Self.frame((clip.lowerBound - origin) * rate)
        self.start = start
        let end = clip.upperBound.isFinite ? Self.frame((clip.upperBound - origin) * rate) : nil
        let known = decoder.properties.frameCount.map { max(0, $0 - start) }
        let wanted = end.map { $0 - start }
        count = if let known, let wanted { min(known, wanted) } else { wanted ?? known }
        isPlaced = start == 0
        properties = decoder.properties
        properties.frameCount = count
        // It is of the whole file.
        properties.sampleDigest = nil
    }

    private static func frame(_ value: Double) -> Int64 { Int64(max(0, min(value.rounded(), 1e15))) }

    private(set) var properties: AudioProperties
    var metadata: TrackMetadata { decoder.metadata }

    var damage: DamageReport {
        var damage = decoder.damage
        // What lies behind the clip is not missed.
        if let count, position >= count { damage.truncated = false }
        return damage
    }

    func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(MediaError) -> DecodedRun {
        if !isPlaced {
            try decoder.seek(toFrame: start)
            isPlaced = true
        }
        if let count, position >= count { return .end }
        let run = try decoder.read(into: buffer)
        guard case .frames(let frames) = run else { return run }
        let taken = count.map { Int(min(Int64(frames), $0 - position)) } ?? frames
        position += Int64(taken)
        return .frames(taken)
    }

    func seek(toFrame frame: Int64) throws(MediaError) {
        position = max(0, min(frame, count ?? .max))
        isPlaced = true
        try decoder.seek(toFrame: start + min(position, .max - start))
    }

    func whenReadable(_ wake: @escaping @Sendable () -> Void) { decoder.whenReadable(wake) }
}
