import PCM

/// Descriptions of PCM: those of QuickTime, and `ipcm` and `fpcm` (ISO/IEC 23003-5).
extension PCMDescription {
    /// - Parameters:
    ///   - type: of `box`, or the type before its encryption.
    ///   - fields: of `box`.
    /// - Returns: nil for any other codec.
    init?(
        _ type: FourCharacterCode, _ box: MP4Box, of source: any ByteSource, _ fields: MP4SoundFields
    ) throws(Interruption) {
        let found: SampleLayout?
        switch type {
        case "ipcm", "fpcm":
            guard let config = try box.child("pcmC", of: source, after: fields.byteCount) else {
                throw .damaged(what: "MP4 with PCM that is not described")
            }
            found = Self.layout(try config.bytes(of: source, limit: 6), isFloat: type == "fpcm")
        case "lpcm": found = try Self.layout(fields)
        default:
            guard let code = AppleSampleCode(type, bits: fields.bits) else { return nil }
            found = code.layout
        }
        guard var layout = found else { throw .unsupported(what: "MP4 with PCM of \(fields.bits) bits") }
        if let wave = try box.child("wave", of: source, after: fields.byteCount),
            let endianness = try wave.child("enda", of: source),
            try endianness.bytes(of: source, limit: 2).last == 1
        {
            layout.isBigEndian = false
        }
        let rate = try Self.rate(box, of: source, fields)
        let format = try fields.format(bitDepth: layout.bitDepth, rate: rate)
        self.init(layout: layout, channelCount: format.channelCount, sampleRate: format.sampleRate)
    }

    /// - Parameter config: of `pcmC`: version and flags, one bit for the order of bytes, the bits of a sample.
    private static func layout(_ config: [UInt8], isFloat: Bool) -> SampleLayout? {
        guard config.count == 6 else { return nil }
        let isBigEndian = config[4] & 1 == 0
        let bits = Int(config[5])
        if isFloat { return bits == 32 || bits == 64 ? .float(bits: bits, isBigEndian: isBigEndian) : nil }
        guard bits == 16 || bits == 24 || bits == 32 else { return nil }
        return SampleLayout(byteCount: bits / 8, bitDepth: bits, isBigEndian: isBigEndian)
    }

    /// The layout of `lpcm`, whose flags are those of Core Audio.
    private static func layout(_ fields: MP4SoundFields) throws(Interruption) -> SampleLayout? {
        guard let linear = fields.linear, AudioLimits.channelCounts ~= fields.channelCount else { return nil }
        func has(_ bit: UInt32) -> Bool { linear.flags >> bit & 1 == 1 }
        let (isFloat, isBigEndian, isSigned, isPacked, isHigh, isPlanar) = (
            has(0), has(1), has(2), has(3), has(4), has(5)
        )
        guard !isPlanar else { throw .unsupported(what: "MP4 with PCM that has each channel apart") }
        let byteCount = linear.bytesPerFrame / fields.channelCount
        guard byteCount * fields.channelCount == linear.bytesPerFrame, linear.bits <= 8 * byteCount else { return nil }
        if isFloat {
            let isWhole = linear.bits == 8 * byteCount && (byteCount == 4 || byteCount == 8)
            return isWhole ? .float(bits: linear.bits, isBigEndian: isBigEndian) : nil
        }
        guard 1...4 ~= byteCount, AudioLimits.bitDepths ~= linear.bits, isSigned || byteCount == 1,
            linear.bits == 8 * byteCount || isHigh || isPacked
        else { return nil }
        return SampleLayout(
            byteCount: byteCount, bitDepth: linear.bits, isBigEndian: isBigEndian, isUnsigned: !isSigned)
    }

    /// The sample rate of a box `srat`; nil when there is none.
    private static func rate(
        _ box: MP4Box, of source: any ByteSource, _ fields: MP4SoundFields
    ) throws(Interruption) -> UInt64? {
        guard let rate = try box.child("srat", of: source, after: fields.byteCount) else { return nil }
        var reader = MP4Fields(try rate.bytes(of: source, limit: 8))
        return reader?.integer(UInt32.self).map { UInt64($0) }
    }
}
