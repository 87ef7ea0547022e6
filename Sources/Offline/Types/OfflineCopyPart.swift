import Media
import Platform

/// A part of the file of an offline copy that has its own beginning: a period, or the segments after a discontinuity
/// (docs/playback.md, 15.10).
struct OfflineCopyPart: Equatable, Sendable {
    /// The first byte of the part in the file.
    var start: Int64
    /// The range that is played, in seconds of the part's own time; nil: all of it.
    var clip: Range<Double>?
    /// The duration by the manifest, in seconds; nil when the manifest has none.
    var duration: Double?
    /// The time of the first frame by the manifest, in the seconds of `clip`; nil: the media defines it.
    var mediaStart: Double?

    /// The only part of a file that is not divided.
    static let whole = OfflineCopyPart(start: 0)
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

extension AudioProperties {
    /// The tolerance of lengths in MP4 boxes and manifests, in seconds. They are rounded, also to milliseconds, and
    /// those of lossy audio may include the encoder's delay.
    var lengthTolerance: Double {
        codec.loss == .padded ? 0.125 : 0.01
    }
}
