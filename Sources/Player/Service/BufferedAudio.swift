/// What has arrived ahead of the decoder, and whether that is enough to begin.
struct BufferedAudio: Equatable, Sendable {
    /// With less than this, now or before the end, one late packet of the network is a stall. In seconds.
    static let least = 1.0

    /// Of audio.
    var seconds = 0.0
    /// In bits per second, of the representation that is fetched now; nil while it is not known.
    var bitRate: Double?
    /// Whether a segment has arrived to its end, and was not read to it. Always true of content that is one file.
    var hasSegment = false
    /// Whether more arrives before something is read.
    var isGrowing = false

    /// Whether there is always a second of audio left when playback begins now and the line stays as it is
    /// (docs/playback.md, 15.14).
    /// - Parameters:
    ///   - missing: seconds of audio that have not arrived; nil for content that goes on.
    ///   - bitsPerSecond: of the line; nil while nothing was measured.
    func isEnough(missing: Double?, bitsPerSecond line: Double?) -> Bool {
        guard isGrowing else { return true }
        guard hasSegment, seconds >= Self.least else { return false }
        guard let missing, let line, let bitRate else { return true }
        return missing * bitRate / line + Self.least <= seconds + missing
    }
}

extension BufferedAudio {
    /// - Parameter stretches: in the order in which they were requested.
    init(_ stretches: [BufferedStretch]) {
        var (bits, audio) = (0.0, 0.0)
        let bandwidth = stretches.last?.bandwidth
        for stretch in stretches {
            let ahead = stretch.bufferedSeconds
            seconds += ahead
            // What is missing will be of the representation that is fetched now, whatever was fetched before.
            if stretch.bandwidth == bandwidth, let length = stretch.byteCount, stretch.seconds > 0 {
                bits += Double(length) * 8
                audio += stretch.seconds
            }
            if !stretch.isSegment || ahead > 0 && stretch.window.isOver { hasSegment = true }
            // Of a file of unknown length it is never known whether it is enough: it is not waited for.
            if stretch.window.isGrowing, stretch.isSegment || stretch.byteCount != nil { isGrowing = true }
        }
        if audio > 0 { bitRate = bits / audio } else if let bandwidth { bitRate = Double(bandwidth) }
    }
}

/// A resource that is decoded, or will be, and the audio in it.
struct BufferedStretch: Sendable {
    let window: StreamWindow
    /// In bytes; nil: the whole resource of the window.
    var length: Int64?
    /// The audio in it.
    var seconds: Double
    /// Whether it is a segment of the content, and not all of it.
    var isSegment: Bool
    /// Of its representation, in bits per second; nil when it is not known.
    var bandwidth: Int?

    /// nil while it is not known.
    var byteCount: Int64? { length ?? window.length ?? window.finalCount }

    /// By the share of the bytes that have arrived ahead of the reader.
    var bufferedSeconds: Double {
        guard let byteCount, byteCount > 0 else { return 0 }
        return seconds * min(1, Double(window.buffered) / Double(byteCount))
    }
}
