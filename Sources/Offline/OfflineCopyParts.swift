import Media
import PCM
import Platform
import Playback
import Streaming

/// A part of the file of an offline copy that has its own beginning: a period, or the segments after a discontinuity
/// (docs/playback.md, 15.10).
struct OfflineCopyPart: Equatable, Sendable {
    /// The first byte of the part in the file.
    var start: Int64
    /// The range that is played, in seconds of the part's own time; nil for all of it.
    var clip: Range<Double>?
    /// The duration by the manifest, in seconds; nil when the manifest has none.
    var duration: Double?
    /// The time of the first frame by the manifest, in the seconds of `clip`; nil: the media defines it.
    var mediaStart: Double?

    /// The only part of a file that is not divided.
    static let whole = OfflineCopyPart(start: 0)
}

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
        func open(_ place: Int) throws(MediaError) -> any AudioDecoder {
            let (part, end) = (parts[place], place + 1 < parts.count ? parts[place + 1].start : nil)
            let isWhole = part.start == 0 && end == nil
            let opened = try AudioFile.open(
                isWhole ? source : SourceSlice(source, from: part.start, upTo: end), licenses: licenses(place),
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
        return try JoinedDecoder(durations: durations) { place in
            StoredPart { () throws(MediaError) in try open(place) }
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

extension AudioProperties {
    /// The tolerance of lengths in MP4 boxes and manifests, in seconds. They are rounded, also to milliseconds, and
    /// those of lossy audio may include the encoder's delay.
    var lengthTolerance: Double {
        switch codec {
        case .aac, .mp3, .mp2, .vorbis, .opus: 0.125
        case .flac, .alac, .pcm, .alaw, .ulaw, .wavpack, .wavpackLossy, .dsd: 0.01
        }
    }
}

extension [OfflineCopyPart] {
    /// The form in the database. Each part is a list of its start, its duration, and both ends of its clip, with null
    /// for missing values. The time of the first frame follows where the manifest has it.
    var json: JSONValue {
        func value(_ seconds: Double?) -> JSONValue { seconds.flatMap { $0.isFinite ? .real($0) : nil } ?? .null }
        return .array(
            map { part in
                .array(
                    [
                        .integer(part.start), value(part.duration), value(part.clip?.lowerBound),
                        value(part.clip?.upperBound),
                    ] + (part.mediaStart == nil ? [] : [value(part.mediaStart)]))
            })
    }

    /// Returns nil for a value in another form.
    init?(_ json: JSONValue) {
        guard let rows = json.elements else { return nil }
        self = []
        for row in rows {
            guard let values = row.elements, 4...5 ~= values.count, let start = values[0].integer,
                start >= last?.start ?? 0
            else { return nil }
            var part = OfflineCopyPart(start: start)
            part.duration = values[1].number
            if let from = values[2].number {
                let end = values[3].number ?? .infinity
                guard from <= end else { return nil }
                part.clip = from..<end
            }
            if values.count == 5 { part.mediaStart = values[4].number }
            append(part)
        }
        guard first?.start == 0 else { return nil }
    }
}

/// A part of an offline copy: nothing of it is fetched.
private final class StoredPart: PreparedPart {
    private let opening: () throws(MediaError) -> any AudioDecoder

    init(_ opening: @escaping () throws(MediaError) -> any AudioDecoder) { self.opening = opening }

    var isFetched: Bool { true }

    func fetchAhead() {}

    func open() throws(MediaError) -> any AudioDecoder { try opening() }
}
