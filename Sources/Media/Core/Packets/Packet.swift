/// A packet of encoded audio and its properties in the container.
struct Packet {
    /// Valid until the next call of the container.
    var bytes: UnsafeRawBufferPointer
    /// The first frame of the packet. nil for a span of an elementary stream, in which the codec finds the packets.
    var timeStamp: Int64?
    /// The duration in frames; nil when the container does not contain it.
    var duration: Int64?
    /// Frames that are decoded and not played, in addition to those that the track's edit drops.
    var trim = PacketTrim()
    /// The encryption; nil for plain bytes.
    var encryption: PacketEncryption?
    /// The header fields of AAC in an elementary stream, as `ADTSHeader.stream`; nil for those of the first packet.
    var otherStream: UInt16?
}

/// Frames of one packet that are not played.
struct PacketTrim: Equatable {
    var leading = 0
    var trailing = 0
}

/// How a packet is encrypted (ISO/IEC 23001-7, 7.2). A stage between container and codec decrypts it.
struct PacketEncryption: Equatable {
    var scheme: Scheme
    var keyID: [UInt8]
    /// 8 or 16 bytes.
    var initializationVector: [UInt8]
    /// The pattern of blocks of 16 bytes in the encrypted runs: so many encrypted ones, then so many plain ones. 0 and
    /// 0: all blocks are encrypted.
    var encryptedBlocks = 0
    var plainBlocks = 0
    /// Runs of plain and of encrypted bytes, in order. Empty: the whole packet is encrypted.
    var subsamples: [Subsample] = []

    /// The schemes of ISO/IEC 23001-7, 10: counter mode or chained blocks, without or with a pattern.
    enum Scheme: String, Equatable { case cenc, cens, cbc1, cbcs }

    struct Subsample: Equatable {
        var plainBytes: Int
        var encryptedBytes: Int
    }
}

/// The source of a codec's packets: a container, or a stage after it.
///
/// Thread: only the decoder thread.
protocol PacketSource: AnyObject {
    /// The next packet, or nil at the end.
    /// - Throws: `.notYet` when the same call can be repeated later; nothing is lost then.
    func nextPacket() throws(Interruption) -> Packet?

    /// Whether the end came before the end that the headers give.
    var isCutShort: Bool { get }

    /// The damage that the source itself replaced by silence, in its own frames. Codecs count other damage.
    var damage: DamageReport { get }
}

extension PacketSource {
    var damage: DamageReport { DamageReport() }
}

/// A source that knows the time of each packet.
protocol TimedPacketSource: PacketSource {
    /// Makes the packet with `frame` the next one, or an earlier one when decoding has to begin before it.
    /// - Returns: the first frame of the next packet.
    func seek(toFrame frame: Int64) throws(Interruption) -> Int64
}

/// A container's description of its audio track.
struct TrackDescription {
    var properties: AudioProperties
    var metadata: TrackMetadata
    /// The part of the decoded frames that is played.
    var edit = TrackEdit()
}
