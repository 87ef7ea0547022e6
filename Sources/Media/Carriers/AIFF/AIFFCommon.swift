/// The `COMM` chunk of an AIFF or AIFF-C file.
struct AIFFCommon {
    let layout: SampleLayout
    let channelCount: Int
    let sampleRate: Int
    /// The number of frames; nil when the writer has not filled it in.
    let frameCount: Int64?

    init(_ chunk: [UInt8], isAIFC: Bool) throws(Interruption) {
        var reader = ByteReader(chunk)
        guard let channels = reader.bigEndian(UInt16.self), let frames = reader.bigEndian(UInt32.self),
            let bits = reader.bigEndian(UInt16.self), let exponent = reader.bigEndian(UInt16.self),
            let mantissa = reader.bigEndian(UInt64.self)
        else { throw .damaged(what: "AIFF with a COMM chunk that is cut off") }
        let compression = isAIFC ? reader.code() ?? "NONE" : "NONE"

        guard let coding = AppleSampleCode(compression, bits: Int(bits)) else {
            throw .unsupported(what: "AIFF-C with \(Self.name(of: compression))")
        }
        guard AudioLimits.channelCounts ~= Int(channels) else {
            throw .unsupported(what: "AIFF with \(channels) channels")
        }
        guard let layout = coding.layout else { throw .unsupported(what: "AIFF with \(bits) bits per sample") }
        self.layout = layout
        guard let rate = Self.integer(exponent: exponent, mantissa: mantissa) else {
            throw .damaged(what: "AIFF with an impossible sample rate")
        }
        channelCount = Int(channels)
        sampleRate = try AudioLimits.sampleRate(rate, of: "AIFF")
        frameCount = frames == 0 || frames == .max ? nil : Int64(frames)
    }

    /// An 80-bit extended number (IEEE 754, double extended), rounded to an integer; nil when it cannot be a sample
    /// rate.
    private static func integer(exponent: UInt16, mantissa: UInt64) -> UInt64? {
        // The value is mantissa * 2^(exponent - 16383 - 63).
        let shift = 16383 + 63 - Int(exponent)
        guard 32...63 ~= shift else { return nil }
        let rounded = (mantissa >> UInt64(shift - 1) &+ 1) >> 1
        return rounded > 0 ? rounded : nil
    }

    private static func name(of compression: FourCharacterCode) -> String {
        switch compression {
        case "ima4", "ADP4": "IMA ADPCM"
        case "MAC3", "MAC6": "MACE"
        case "GSM ", "agsm": "GSM 6.10"
        default: "compression “\(compression.text)”"
        }
    }
}
