import PCM

/// The edit list of a track: which parts of its media are played, in order (`elst`; ISO/IEC 14496-12, 8.6.6).
struct MP4EditList {
    struct Edit: Equatable {
        /// The duration in units of the movie. 0 in a file with fragments: to the end.
        var duration: Int64
        /// The start in units of the track; nil for silence.
        var mediaTime: Int64?
    }

    private(set) var edits: [Edit] = []

    private static let mostEdits = 64

    /// An empty list: the whole media is played.
    init() {}

    init(_ box: MP4Box, of source: any ByteSource) throws(Interruption) {
        guard var fields = MP4Fields(try box.bytes(of: source, limit: 8 + 20 * Self.mostEdits)),
            let count = fields.integer(UInt32.self)
        else { return }
        guard count <= Self.mostEdits else { throw .unsupported(what: "MP4 with \(count) edits") }
        for _ in 0..<count {
            guard let duration = fields.time() else { break }
            let mediaTime: Int64
            if fields.version > 0 {
                guard let time = fields.integer(UInt64.self) else { break }
                mediaTime = Int64(bitPattern: time)
            } else {
                guard let time = fields.integer(UInt32.self) else { break }
                mediaTime = Int64(Int32(bitPattern: time))
            }
            guard mediaTime <= AudioLimits.largestTime else { break }
            // A rate of 0 shows one picture for a while, without sound.
            guard let rate = fields.integer(UInt16.self), fields.integer(UInt16.self) != nil else { break }
            edits.append(Edit(duration: duration, mediaTime: mediaTime < 0 || rate == 0 ? nil : mediaTime))
        }
    }

    /// When the first frame that is played is presented, in units of the track.
    /// - Parameter origin: the media time of the first frame.
    func start(ofMediaFrom origin: Int64) -> Int64 {
        guard let first = edits.first else { return origin }
        return first.mediaTime.map { max(0, origin - $0) } ?? 0
    }

    /// The parts that are played, in frames.
    /// - Parameters:
    ///   - time: of the track.
    ///   - movieTimescale: units per second of durations.
    ///   - origin: the media time of the first frame.
    ///   - end: the number of frames of the media, if it is known.
    ///   - isOpen: the media was not complete when the list was written, so that its last edit extends to the end.
    func trackEdit(
        _ time: MP4Time, movieTimescale: Int64, origin: Int64, end: Int64?, isOpen: Bool
    ) -> TrackEdit {
        var parts: [TrackEdit.Part] = []
        for (index, edit) in edits.enumerated() {
            let isLast = index == edits.count - 1
            let duration = MP4Time.scale(
                edit.duration, time.sampleRate, movieTimescale, rounding: movieTimescale / 2)
            guard let mediaTime = edit.mediaTime else {
                if duration > 0 { parts.append(.silence(duration)) }
                continue
            }
            let start = time.frames(max(0, mediaTime - origin))
            if isLast, isOpen || edit.duration == 0 {
                parts.append(.media(start: start, count: nil))
                continue
            }
            var count: Int64? = duration
            if let end {
                // A duration in coarse units is rounded.
                let unit = (time.sampleRate + movieTimescale - 1) / movieTimescale
                let rest = max(0, end - start)
                if duration >= rest - min(rest, unit) { count = isLast ? nil : rest }
            }
            guard count != 0 else { continue }
            if let last = parts.last, case .media(let lastStart, let lastCount?) = last, lastStart + lastCount == start
            {
                parts[parts.count - 1] = .media(start: lastStart, count: count.map { $0 + lastCount })
            } else {
                parts.append(.media(start: start, count: count))
            }
        }
        return parts.isEmpty ? TrackEdit(count: edits.isEmpty ? nil : 0) : TrackEdit(parts)
    }
}
