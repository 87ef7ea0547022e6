import Media
import PCM
import Platform
import Playback
import Streaming

extension [OfflineCopyPart] {
    /// Opens the file of an offline copy.
    /// - Parameters:
    ///   - source: the whole file.
    ///   - licenses: returns the license of each part.
    func open(
        _ source: any ByteSource, cancellation: Cancellation,
        licenses: @escaping (_ part: Int) -> (any LicenseProvider)?
    ) throws(MediaError) -> any AudioDecoder {
        let parts = self
        func open(_ index: Int) throws(MediaError) -> any AudioDecoder {
            let (part, end) = (parts[index], index + 1 < parts.count ? parts[index + 1].start : nil)
            let isWhole = part.start == 0 && end == nil
            let opened = try AudioFile.open(
                isWhole ? source : SourceSlice(source, from: part.start, upTo: end), licenses: licenses(index),
                cancellation: cancellation)
            guard let clip = part.clip else {
                return part.duration.map { PartDecoder(opened, duration: $0) } ?? opened
            }
            guard let duration = part.duration else {
                return ClippedDecoder(opened, clip, mediaStart: part.mediaStart)
            }
            let before = Swift.max(0, clip.lowerBound - (part.mediaStart ?? opened.properties.mediaStart))
            return ClippedDecoder(
                PartDecoder(opened, duration: before + duration), clip, mediaStart: part.mediaStart)
        }
        let durations = map { $0.duration }
        guard count > 1 else {
            let decoder = try open(0)
            // A file of joined segments may have no length, or the length of the whole recording.
            let isKnown = decoder.properties.frameCount != nil && self[0].clip == nil
            if isKnown || durations[0] == nil { return decoder }
            return try JoinedDecoder(durations: durations) { _ in
                StoredPart { decoder }
            }
        }
        return try JoinedDecoder(durations: durations) { index in
            StoredPart { () throws(MediaError) in try open(index) }
        }
    }
}

/// Plays a part whose header may describe the whole recording. It counts as cut off only when it is shorter than the
/// manifest's duration.
///
/// Thread: the decoder thread.
private final class PartDecoder: AudioDecoder {
    private let decoder: any AudioDecoder
    private let duration: Double
    private var rate: Double
    /// The position in the part, in seconds.
    private var position = 0.0

    init(_ decoder: any AudioDecoder, duration: Double) {
        self.decoder = decoder
        self.duration = duration
        rate = Double(decoder.properties.format.sampleRate)
    }

    var properties: AudioProperties { decoder.properties }
    var metadata: TrackMetadata { decoder.metadata }

    var damage: DamageReport {
        var damage = decoder.damage
        if position >= duration - decoder.properties.lengthTolerance { damage.truncated = false }
        return damage
    }

    func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(MediaError) -> DecodedRun {
        let run = try decoder.read(into: buffer)
        switch run {
        case .frames(let count): position += Double(count) / rate
        case .format(let format): rate = Double(format.sampleRate)
        case .notYet, .end: break
        }
        return run
    }

    func seek(toFrame frame: Int64) throws(MediaError) {
        try decoder.seek(toFrame: frame)
        rate = Double(decoder.properties.format.sampleRate)
        position = Double(frame) / rate
    }

    func whenReadable(_ wake: @escaping @Sendable () -> Void) { decoder.whenReadable(wake) }
}

/// A part of an offline copy: nothing of it is fetched.
private final class StoredPart: PreparedPart {
    private let opening: () throws(MediaError) -> any AudioDecoder

    init(_ opening: @escaping () throws(MediaError) -> any AudioDecoder) { self.opening = opening }

    var isFetched: Bool { true }

    func fetchAhead() {}

    func open() throws(MediaError) -> any AudioDecoder { try opening() }
}
