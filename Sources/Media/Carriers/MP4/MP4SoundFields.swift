import PCM

/// The fields of the description of audio samples that do not depend on the codec (ISO/IEC 14496-12, 12.2.3; QuickTime
/// File Format, "Sound Sample Descriptions").
struct MP4SoundFields {
    let channelCount: Int
    let bits: Int
    /// The rate in Hz; 0 when the fields do not have a valid one.
    let sampleRate: UInt64
    /// The fields that only QuickTime's version 2 has; nil for others.
    let linear: Linear?
    /// The bytes of the fields, after which boxes may follow.
    let byteCount: Int64

    /// The fields of `lpcm` in version 2.
    struct Linear {
        let bits: Int
        let flags: UInt32
        let bytesPerFrame: Int
    }

    /// - Parameters:
    ///   - isQuickTime: whether the version determines which fields QuickTime appended.
    ///   - timescale: of the track. It replaces a rate that needs more than 16 bits.
    init(_ box: MP4Box, of source: any ByteSource, isQuickTime: Bool, timescale: UInt32) throws(Interruption) {
        // 8 bytes of every entry, then 20 of audio.
        var fields = ByteReader(try box.bytes(of: source, limit: 64))
        fields.skip(8)
        let version = fields.bigEndian(UInt16.self) ?? 0
        fields.skip(6)
        let channels = fields.bigEndian(UInt16.self) ?? 0
        let depth = fields.bigEndian(UInt16.self) ?? 0
        fields.skip(4)
        let rate = fields.bigEndian(UInt16.self) ?? 0
        fields.skip(2)
        guard isQuickTime, version == 2, fields.bigEndian(UInt32.self) != nil,
            let exactRate = fields.bigEndian(UInt64.self), let count = fields.bigEndian(UInt32.self),
            fields.bigEndian(UInt32.self) != nil, let bits = fields.bigEndian(UInt32.self),
            let flags = fields.bigEndian(UInt32.self), let bytes = fields.bigEndian(UInt32.self)
        else {
            channelCount = Int(channels)
            bits = Int(depth)
            sampleRate = UInt64(rate == UInt16(truncatingIfNeeded: timescale) || rate == 0 ? timescale : UInt32(rate))
            linear = nil
            byteCount = isQuickTime && version == 1 ? 44 : 28
            return
        }
        channelCount = Int(min(count, UInt32(Int32.max)))
        self.bits = Int(min(bits, 255))
        sampleRate = UInt64(exactly: Double(bitPattern: exactRate).rounded()) ?? 0
        linear = Linear(bits: self.bits, flags: flags, bytesPerFrame: Int(min(bytes, UInt32(Int32.max))))
        byteCount = 64
    }

    /// - Parameter rate: that of a box, if it has one.
    func format(bitDepth: Int, rate: UInt64? = nil) throws(Interruption) -> PCMFormat {
        guard AudioLimits.channelCounts ~= channelCount else {
            throw .unsupported(what: "MP4 with \(channelCount) channels")
        }
        return PCMFormat(
            sampleRate: try AudioLimits.sampleRate(rate ?? sampleRate, of: "MP4"), channelCount: channelCount,
            bitDepth: bitDepth)
    }
}
