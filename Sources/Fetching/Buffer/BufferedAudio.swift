/// The audio that waits for the decoder, and whether it is enough to begin
/// playback (docs/decisions/when-a-stream-begins.md).
package struct BufferedAudio: Equatable, Sendable {
    /// The least buffered audio in seconds, now and until the end. With less, one late packet of the network causes a
    /// stall.
    static let least = 1.0

    /// The length of the buffered audio.
    package var seconds = 0.0
    /// The bit rate of the representation that is being fetched, in bits per second; nil while unknown.
    var bitRate: Double?
    /// Whether a complete segment waits for the decoder. Always true for content that is one file.
    var hasSegment = false
    /// Whether more arrives without the decoder reading anything.
    var isGrowing = false

    /// Returns whether at least a second of audio always remains if playback begins now and the throughput stays as it
    /// is (docs/playback.md, 15.14).
    /// - Parameters:
    ///   - missing: seconds of audio that have not arrived; nil for content without a known end.
    ///   - bitsPerSecond: the throughput of the link; nil while nothing was measured.
    package func isEnough(missing: Double?, bitsPerSecond line: Double?) -> Bool {
        guard isGrowing else { return true }
        guard hasSegment, seconds >= Self.least else { return false }
        guard let missing, let line, let bitRate else { return true }
        return missing * bitRate / line + Self.least <= seconds + missing
    }
}

extension BufferedAudio {
    /// - Parameter stretches: the resources in the order of their requests.
    init(_ stretches: [BufferedStretch]) {
        var (bits, audio) = (0.0, 0.0)
        let bandwidth = stretches.last?.bandwidth
        for stretch in stretches {
            let ahead = stretch.bufferedSeconds
            seconds += ahead
            // The missing audio will be fetched from the latest representation: only its bytes give the bit rate.
            if stretch.bandwidth == bandwidth, let length = stretch.byteCount, stretch.seconds > 0 {
                bits += Double(length) * 8
                audio += stretch.seconds
            }
            if !stretch.isSegment || ahead > 0 && stretch.window.isOver { hasSegment = true }
            // The share of a file of unknown length that has arrived is unknown: so playback does not wait for it.
            if stretch.window.isGrowing, stretch.isSegment || stretch.byteCount != nil { isGrowing = true }
        }
        if audio > 0 { bitRate = bits / audio } else if let bandwidth { bitRate = Double(bandwidth) }
    }
}

/// A resource that is being decoded or will be, and the length of its audio.
struct BufferedStretch: Sendable {
    let window: StreamWindow
    /// The length in bytes; nil for the whole resource of the window.
    var length: Int64?
    /// The length of its audio.
    var seconds: Double
    /// Whether it is a segment of the content, not the whole content.
    var isSegment: Bool
    /// The bandwidth of its representation in bits per second; nil while unknown.
    var bandwidth: Int?

    /// The length in bytes; nil while unknown.
    var byteCount: Int64? { length ?? window.length ?? window.finalCount }

    /// The audio that waits for the decoder, estimated by the share of the bytes that are buffered.
    var bufferedSeconds: Double {
        guard let byteCount, byteCount > 0 else { return 0 }
        return seconds * min(1, Double(window.buffered) / Double(byteCount))
    }
}
