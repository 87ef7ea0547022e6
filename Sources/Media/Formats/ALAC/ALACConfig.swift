import PCM

/// The description of ALAC in a container: the "magic cookie", 24 bytes.
struct ALACConfig: Equatable {
    /// Frames of a packet; the last one may have fewer.
    let frameCount: Int
    let format: PCMFormat
    /// The mean at the start of a packet, for the adaptive Golomb codes.
    let firstMean: UInt32
    /// How fast the mean follows.
    let meanFactor: UInt32
    /// The most bits of the lower part of a code; 0 when samples are not compressed.
    let mostBits: UInt32

    static let byteCount = 24

    /// Encoders write 4096.
    private static let mostFrames: UInt32 = 65_536

    init(_ bytes: [UInt8]) throws(Interruption) {
        var reader = ByteReader(bytes)
        guard let frames = reader.bigEndian(UInt32.self), let version = reader.bigEndian(UInt8.self),
            let depth = reader.bigEndian(UInt8.self), let factor = reader.bigEndian(UInt8.self),
            let mean = reader.bigEndian(UInt8.self), let bits = reader.bigEndian(UInt8.self),
            let channels = reader.bigEndian(UInt8.self)
        else { throw Self.isCutOff }
        // The longest run, the largest packet, the bit rate.
        reader.skip(10)
        guard let rate = reader.bigEndian(UInt32.self) else { throw Self.isCutOff }
        guard version == 0 else { throw .unsupported(what: "ALAC of version \(version)") }
        guard depth == 16 || depth == 20 || depth == 24 || depth == 32 else {
            throw .unsupported(what: "ALAC with \(depth) bits per sample")
        }
        guard AudioLimits.channelCounts ~= Int(channels) else {
            throw .unsupported(what: "ALAC with \(channels) channels")
        }
        // No other format has this order, and the mixer does not know it.
        guard channels != 4 else {
            throw .unsupported(what: "ALAC with three channels in front and one behind")
        }
        guard frames > 0 else { throw .damaged(what: "ALAC with an impossible description") }
        guard frames <= Self.mostFrames else { throw .unsupported(what: "ALAC with \(frames) frames a packet") }
        frameCount = Int(frames)
        firstMean = UInt32(mean)
        meanFactor = UInt32(factor)
        mostBits = min(31, UInt32(bits))
        format = PCMFormat(
            sampleRate: try AudioLimits.sampleRate(UInt64(rate), of: "ALAC"), channelCount: Int(channels),
            bitDepth: Int(depth))
    }

    private static var isCutOff: Interruption { .damaged(what: "ALAC with a description that is cut off") }

    /// No encoder writes a larger packet: one whose samples are not compressed has half of it.
    var mostPacketBytes: Int { frameCount * format.channelCount * 8 + 1024 }

    /// The position of each channel in a frame, in the order of the elements: four bits each, the first one lowest.
    /// Elements begin with the centre, and end with the low frequencies; a frame has the order of WAV.
    var channelOrder: UInt32 {
        switch format.channelCount {
        // C L R
        case 3: 0x102
        // C L R Ls Rs
        case 5: 0x4_3102
        // C L R Ls Rs LFE
        case 6: 0x35_4102
        // C L R Ls Rs Cs LFE
        case 7: 0x346_5102
        // C Lc Rc L R Ls Rs LFE
        case 8: 0x3541_0762
        default: 0x10
        }
    }
}
