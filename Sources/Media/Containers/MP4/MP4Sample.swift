/// A sample of a track: the bytes of one packet, and when it is played.
struct MP4Sample {
    /// In the source.
    var offset: Int64
    var size: Int64
    /// In units of the track.
    var time: Int64
    var duration: Int64
    /// nil for plain bytes.
    var encryption: PacketEncryption?
}
