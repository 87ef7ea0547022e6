/// A piece of encoded audio with what its container says about it.
struct Packet {
    /// Valid until the next call of the container.
    var bytes: UnsafeRawBufferPointer
    /// The first frame of the packet, in time units of the track. nil for a span of an elementary stream, whose packets
    /// are found by the codec.
    var timeStamp: Int64?
    /// In time units of the track; nil where the container does not say.
    var duration: Int64?
    /// Frames that are decoded and not played, beside those that the track's edit drops.
    var trim = PacketTrim()
    /// nil for plain bytes.
    var encryption: PacketEncryption?
}

/// Frames of one packet that are not played.
struct PacketTrim: Equatable {
    var leading = 0
    var trailing = 0
}

/// How a packet is encrypted (ISO/IEC 23001-7, 7.2). A stage between container and codec decrypts it.
struct PacketEncryption: Equatable {
    var keyID: [UInt8]
    var initializationVector: [UInt8]
    /// Runs of plain and of encrypted bytes, one after the other. Empty: the whole packet is encrypted.
    var subsamples: [Subsample] = []

    struct Subsample: Equatable {
        var plainBytes: Int
        var encryptedBytes: Int
    }
}

/// Where a codec takes its packets from: a container, or a stage behind it.
///
/// Thread: the decoder thread alone.
protocol PacketSource: AnyObject {
    /// The next packet, or nil at the end.
    /// - Throws: `.notYet` when the same call can be repeated later; nothing is lost then.
    func nextPacket() throws(Interruption) -> Packet?

    /// Whether the end came before what the headers promise.
    var isCutShort: Bool { get }
}

/// A source that knows where each packet lies in time.
protocol TimedPacketSource: PacketSource {
    /// Makes the packet that holds `frame` the next one, or an earlier one where decoding has to begin before it.
    /// - Returns: the first frame of the next packet.
    func seek(toFrame frame: Int64) throws(Interruption) -> Int64
}

/// What a container tells about its audio track.
struct TrackDescription {
    var properties: AudioProperties
    var metadata: TrackMetadata
    /// The part of what is decoded that is played.
    var edit = TrackEdit()
}
