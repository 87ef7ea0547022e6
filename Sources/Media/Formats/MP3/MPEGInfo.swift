import PCM

/// The header that encoders put into a first frame without sound: `Xing` or `Info`, with the fields of LAME, or `VBRI`
/// of Fraunhofer's encoder.
struct MPEGInfo: Equatable {
    /// Frames of MPEG after this one.
    private(set) var packetCount: Int64?
    /// Bytes from this frame to the end of the last one.
    private(set) var byteCount: Int64?
    /// The offset of each hundredth of the time, in 256ths of the bytes.
    private(set) var table: [UInt8] = []
    /// Whether all frames have one bit rate.
    private(set) var isConstant = false
    /// Frames of sound that the encoder added at the start.
    private(set) var delay: Int64?
    /// Frames of sound that the encoder added at the end.
    private(set) var padding: Int64?
    private(set) var replayGain = ReplayGain()

    /// The header of Fraunhofer's encoder is there in every kind of frame.
    private static let offsetOfVBRI = 36

    /// - Parameter frame: with the header.
    /// - Returns: nil for a frame with sound.
    init?(_ frame: [UInt8], _ header: MPEGAudioHeader) {
        guard header.layer == 3 else { return nil }
        for offset in header.infoOffsets where frame.count >= offset + 8 {
            guard Self.isXing(frame[offset...]) else { continue }
            isConstant = MPEGTags.begins(frame[offset...], with: "Info")
            readXing(Array(frame[(offset + 4)...]))
            return
        }
        guard frame.count >= Self.offsetOfVBRI + 26,
            MPEGTags.begins(frame[Self.offsetOfVBRI...], with: "VBRI")
        else { return nil }
        // Skips the version, the delay and the quality. This delay does not count the frames that the encoder added.
        var reader = ByteReader(Array(frame[(Self.offsetOfVBRI + 10)...]))
        byteCount = reader.bigEndian(UInt32.self).map(Int64.init)
        packetCount = reader.bigEndian(UInt32.self).map(Int64.init)
    }

    /// The part that is played of a stream whose first packet is such a header.
    /// - Returns: nil for a packet with sound.
    static func edit(of packet: UnsafeRawBufferPointer) -> TrackEdit? {
        guard let header = MP3Codec.header(packet), let info = MPEGInfo(Array(packet), header) else { return nil }
        guard let delay = info.delay, let padding = info.padding else {
            return TrackEdit(leading: Int64(header.frameCount))
        }
        let count = info.packetCount.map { max(0, $0 * Int64(header.frameCount) - delay - padding) }
        return TrackEdit(leading: Int64(header.frameCount) + delay + MP3Codec.delay, count: count)
    }

    static func isXing(_ bytes: some Collection<UInt8>) -> Bool {
        MPEGTags.begins(bytes, with: "Xing") || MPEGTags.begins(bytes, with: "Info")
    }

    private mutating func readXing(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard let flags = reader.bigEndian(UInt32.self) else { return }
        if flags & 1 != 0 { packetCount = reader.bigEndian(UInt32.self).map(Int64.init) }
        if flags & 2 != 0 { byteCount = reader.bigEndian(UInt32.self).map(Int64.init) }
        if flags & 4 != 0 { table = reader.bytes(100).map(Array.init) ?? [] }
        if flags & 8 != 0 { reader.skip(4) }
        if packetCount == 0 { packetCount = nil }
        if byteCount == 0 { byteCount = nil }
        readLAME(Array(bytes[reader.position...]))
    }

    /// - Parameter bytes: from the name of the encoder on. Others than LAME write the same fields.
    private mutating func readLAME(_ bytes: [UInt8]) {
        guard bytes.count >= 24, (0x21...0x7E).contains(bytes[0]), (0x20...0x7E).contains(bytes[1]),
            // Versions before 3.90 had a longer name, and no fields after it.
            !MPEGTags.begins(bytes, with: "LAME3.8")
        else { return }
        let delay = Int64(bytes[21]) << 4 | Int64(bytes[22]) >> 4
        let padding = Int64(bytes[22] & 0xF) << 8 | Int64(bytes[23])
        // Every encoder adds some frames: those that store 0 left the fields empty.
        if delay != 0 || padding != 0 {
            self.delay = delay
            self.padding = padding
        }
        let peak = Self.peak(bytes[11..<15].reduce(0 as UInt32) { $0 << 8 | UInt32($1) })
        for place in [15, 17] {
            let field = Int(bytes[place]) << 8 | Int(bytes[place + 1])
            // A name, an originator (0: it was not measured), a sign, tenths of a decibel.
            guard field >> 10 & 7 != 0 else { continue }
            let gain = Double(field & 0x1FF) / (field & 0x200 != 0 ? -10 : 10)
            switch field >> 13 {
            case 1:
                replayGain.trackGain = gain
                // Without a peak, full scale is used, as for R128.
                replayGain.trackPeak = peak ?? 1
            case 2:
                replayGain.albumGain = gain
                replayGain.albumPeak = peak ?? 1
            default: break
            }
        }
    }

    /// A number with 23 bits after the point. Old versions wrote an IEEE float.
    private static func peak(_ field: UInt32) -> Double? {
        let value = field >= 0x2000_0000 ? Double(Float(bitPattern: field)) : Double(field) / 8_388_608
        return value > 0 && value <= 100 ? value : nil
    }
}
