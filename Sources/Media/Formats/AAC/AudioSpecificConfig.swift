/// The description of AAC in a container (AudioSpecificConfig; ISO/IEC 14496-3, 1.6.2.1).
struct AudioSpecificConfig: Equatable {
    /// The bytes for a decoder: those of the container, or the same meaning in fields that libfaad2 can read.
    let bytes: [UInt8]
    /// The sample rate of the core, without spectral band replication (SBR).
    let coreSampleRate: Int
    /// The channels of the core, without parametric stereo: 1 to 8.
    let channelCount: Int
    /// The sample rate with SBR; nil without SBR, and when the container leaves it to the decoder.
    let extendedSampleRate: Int?
    /// Whether SBR is used; nil when the container leaves it to the decoder (implicit signalling).
    let hasSBR: Bool?
    /// Whether parametric stereo is used; nil when the container leaves it to the decoder.
    let hasParametricStereo: Bool?
    /// The length of the description of the core, in bits.
    let coreBitCount: Int

    /// Frames of the core in one packet.
    static let coreFrameCount = 1024
    /// The most bytes. Longer configurations do not exist: one with a comment of 255 bytes has fewer.
    static let mostBytes = 512

    fileprivate static let sbrSync: UInt32 = 0x2B7
    private static let parametricStereoSync: UInt32 = 0x548

    init(_ bytes: [UInt8]) throws(Interruption) {
        var reader = BitReader(bytes)
        guard bytes.count <= Self.mostBytes, var type = Self.objectType(&reader),
            let coreRate = Self.sampleRate(&reader), let channelConfiguration = reader.bits(4)
        else { throw Self.isCutOff }
        var hasSBR: Bool?
        var hasParametricStereo: Bool?
        var extendedRate: UInt32?
        if type == ObjectType.sbr || type == ObjectType.parametricStereo {
            hasSBR = true
            hasParametricStereo = type == ObjectType.parametricStereo ? true : nil
            guard let rate = Self.sampleRate(&reader), let core = Self.objectType(&reader) else { throw Self.isCutOff }
            extendedRate = rate
            type = core
        }
        guard type == ObjectType.lowComplexity else { throw .unsupported(what: ObjectType.name(type)) }
        // The frames of a packet. Fields that are missing at the end are 0.
        guard reader.flag() != true else { throw .unsupported(what: "AAC with 960 frames a packet") }
        let program = try AACProgram(channelConfiguration, &reader)
        channelCount = program.channelCount
        // The extension, which may begin at any bit.
        var isRewritten = program.isRewritten
        while hasSBR == nil, reader.remaining > 16 {
            var extended = reader
            let isBehindCore = reader.position == program.end
            _ = reader.skip(1)
            guard extended.bits(11) == Self.sbrSync, Self.objectType(&extended) == ObjectType.sbr,
                let isPresent = extended.flag()
            else { continue }
            if isPresent {
                guard let rate = Self.sampleRate(&extended) else { break }
                extendedRate = rate
                if extended.bits(11) == Self.parametricStereoSync { hasParametricStereo = extended.flag() }
            } else {
                hasParametricStereo = false
            }
            hasSBR = isPresent
            // libfaad2 looks for it there only.
            isRewritten = isRewritten || !isBehindCore
        }
        // Parametric stereo makes two channels of one.
        if channelCount > 1 { hasParametricStereo = false }
        self.hasSBR = hasSBR
        self.hasParametricStereo = hasParametricStereo
        coreSampleRate = try AudioLimits.sampleRate(UInt64(coreRate), of: "AAC")
        extendedSampleRate =
            if let extendedRate { try AudioLimits.sampleRate(UInt64(extendedRate), of: "AAC") } else { nil }
        guard isRewritten else {
            coreBitCount = program.end
            self.bytes = bytes
            return
        }
        var writer = program.core(sampleRate: coreRate)
        coreBitCount = writer.bitCount
        if let hasSBR { writer.append(sbr: hasSBR, sampleRate: extendedRate ?? 2 * coreRate) }
        self.bytes = writer.bytes
    }

    /// 5 bits, or 11.
    private static func objectType(_ reader: inout BitReader) -> UInt32? {
        guard let type = reader.bits(5) else { return nil }
        return type == 31 ? reader.bits(6).map { 32 + $0 } : type
    }

    /// 4 bits, or 28.
    private static func sampleRate(_ reader: inout BitReader) -> UInt32? {
        guard let index = reader.bits(4) else { return nil }
        return index == 15 ? reader.bits(24) : AACSampleRate.rate(ofIndex: index)
    }

    static let isCutOff = Interruption.damaged(what: "AAC with a configuration that is cut off")
}

extension AudioSpecificConfig {
    /// The configuration with explicit SBR. A decoder needs it to use SBR from the first packet on.
    var withSBR: [UInt8] {
        guard hasSBR != true else { return bytes }
        var writer = BitWriter(bytes, bitCount: coreBitCount)
        writer.append(sbr: true, sampleRate: UInt32(2 * coreSampleRate))
        return writer.bytes
    }

    /// The types of audio objects (ISO/IEC 14496-3, table 1.17).
    enum ObjectType {
        static let lowComplexity: UInt32 = 2
        static let sbr: UInt32 = 5
        static let parametricStereo: UInt32 = 29

        /// Whether a stream of that type can be decoded: AAC-LC, alone or as the core of HE-AAC.
        static func isDecoded(_ type: UInt32) -> Bool {
            type == lowComplexity || type == sbr || type == parametricStereo
        }

        /// The name of the type, for messages.
        static func name(_ type: UInt32) -> String {
            switch type {
            case 1: "AAC Main"
            case 3: "AAC SSR"
            case 4: "AAC LTP"
            case 6, 20: "scalable AAC"
            case 17, 19: "error resilient AAC"
            case 23: "AAC-LD"
            case 32, 33, 34: "MP3"
            case 36: "MPEG-4 ALS"
            case 37, 38: "MPEG-4 SLS"
            case 39: "AAC-ELD"
            case 42: "xHE-AAC"
            default: "MPEG-4 audio of type \(type)"
            }
        }
    }
}

/// The sample rates that have a number (ISO/IEC 14496-3, table 1.18).
enum AACSampleRate {
    /// - Returns: nil for a rate without a number.
    static func index(ofRate rate: UInt32) -> UInt32? { (0...12).first { Self.rate(ofIndex: $0) == rate } }

    /// - Returns: nil for numbers without a rate.
    static func rate(ofIndex index: UInt32) -> UInt32? {
        switch index {
        case 0: 96_000
        case 1: 88_200
        case 2: 64_000
        case 3: 48_000
        case 4: 44_100
        case 5: 32_000
        case 6: 24_000
        case 7: 22_050
        case 8: 16_000
        case 9: 12_000
        case 10: 11_025
        case 11: 8000
        case 12: 7350
        default: nil
        }
    }
}

/// Appends single bits, the highest first.
struct BitWriter {
    private(set) var bytes: [UInt8]
    private(set) var bitCount: Int

    /// The first `bitCount` bits of `bytes`, which has so many.
    init(_ bytes: [UInt8] = [], bitCount: Int = 0) {
        self.bitCount = bitCount
        self.bytes = Array(bytes.prefix((bitCount + 7) / 8))
        if bitCount % 8 > 0 { self.bytes[bitCount / 8] &= ~(0xFF >> UInt8(bitCount % 8)) }
    }

    mutating func alignToByte() { append(0, (8 - bitCount % 8) % 8) }

    /// - Parameter count: 0 to 32.
    mutating func append(_ value: UInt32, _ count: Int) {
        for bit in stride(from: count - 1, through: 0, by: -1) {
            if bitCount % 8 == 0 { bytes.append(0) }
            bytes[bitCount / 8] |= UInt8(value >> UInt32(bit) & 1) << UInt8(7 - bitCount % 8)
            bitCount += 1
        }
    }
}

extension BitWriter {
    /// Appends the extension that says whether the stream has SBR (ISO/IEC 14496-3, 1.6.2.1).
    /// - Parameter sampleRate: with SBR.
    fileprivate mutating func append(sbr isPresent: Bool, sampleRate: UInt32) {
        append(AudioSpecificConfig.sbrSync, 11)
        append(AudioSpecificConfig.ObjectType.sbr, 5)
        append(isPresent ? 1 : 0, 1)
        guard isPresent else { return }
        append(15, 4)
        append(sampleRate, 24)
    }
}
