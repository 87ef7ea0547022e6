/// A sample of a track: the bytes of one packet, and when it is played.
struct MP4Sample {
    /// The offset in the source.
    var offset: Int64
    var size: Int64
    /// The time in units of the track.
    var time: Int64
    var duration: Int64
    /// The encryption of the sample; nil for plain bytes.
    var encryption: PacketEncryption?
}

/// Samples do not overlap. So one pass has no more bytes than lie before the end of its furthest sample. Few samples
/// lie before one that was read already. Without this check, a small file with wrong tables could be read for hours.
struct MP4OverlapCheck {
    /// The offset after the last byte of the source.
    private let end: Int64
    private var bytes: Int64 = 0
    private var furthest: Int64 = 0
    private var position: Int64 = 0
    /// Bytes that are read a second time after steps back.
    private var bytesAgain: Int64 = 0

    /// - Parameter length: of the source; nil when it is not known, or when reading shows it.
    init(length: Int64? = nil) { end = length ?? AudioLimits.largestData }

    func admits(_ sample: MP4Sample) -> Bool {
        guard sample.offset >= 0, sample.offset <= AudioLimits.largestData else { return false }
        // A sample without bytes does not show that there are any before it.
        let sampleEnd = sample.size > 0 ? min(sample.offset + sample.size, end) : 0
        let furthest = max(furthest, sampleEnd)
        return bytes + max(1, sample.size) <= furthest && bytesAgain <= 4 * furthest
    }

    mutating func count(_ sample: MP4Sample) {
        bytes += max(1, sample.size)
        if sample.offset < position {
            bytesAgain += min(max(0, furthest - sample.offset), Int64(MP4Container.dataPageSize))
        }
        position = sample.offset + sample.size
        if sample.size > 0 { furthest = max(furthest, min(position, end)) }
    }
}
