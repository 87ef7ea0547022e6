#if AAC
    import PCM

    /// How a stream of AAC is decoded: from its configuration, and from properties that only its packets have.
    struct AACStream {
        /// The configuration for the decoder.
        let config: [UInt8]
        let format: PCMFormat
        /// Frames of a packet, as it is played.
        let packetFrameCount: Int
        /// The object type, as in `AudioProperties`.
        let objectType: Int
        /// Packets that have to be decoded before one that is played: the transform overlaps with the packet before,
        /// and SBR filters the output once more.
        var preroll: Int64 { hasSBR ? 3 : 1 }

        private let hasSBR: Bool

        /// Lossy audio has no bits that are exact. With 24 bits, the decoder's own rounding stays below that of any
        /// card.
        private static let bitDepth = 24
        /// SBR is in every packet; parametric stereo may begin somewhat later.
        private static let testedPackets = 4
        /// SBR doubles the rate of a core up to this one.
        private static let highestCoreRate = 48_000

        /// Decodes the first packets when the configuration leaves something open.
        /// - Parameter packets: at the first packet; moved by the call.
        init(_ config: AudioSpecificConfig, _ packets: any PacketSource) throws(Interruption) {
            var hasSBR = config.hasSBR
            var hasParametricStereo = config.hasParametricStereo
            if hasSBR == nil, config.coreSampleRate > Self.highestCoreRate { hasSBR = false }
            if hasSBR == false { hasParametricStereo = false }
            if hasSBR == nil || hasParametricStereo == nil {
                var library = try FAADLibrary(config.bytes)
                var hasDecoded = false
                var hasFoundSBR = false
                var hasFoundStereo = false
                for _ in 0..<Self.testedPackets {
                    guard let packet = try packets.nextPacket() else { break }
                    guard let block = library.decode(packet.bytes) else {
                        if !hasDecoded { library = try FAADLibrary(config.bytes) }
                        continue
                    }
                    hasDecoded = true
                    hasFoundSBR = hasFoundSBR || block.hasSBR
                    hasFoundStereo = hasFoundStereo || block.hasParametricStereo
                }
                hasSBR = hasSBR ?? hasFoundSBR
                hasParametricStereo = hasParametricStereo ?? hasFoundStereo
            }
            objectType = Int(
                hasSBR != true
                    ? AudioSpecificConfig.ObjectType.lowComplexity
                    : hasParametricStereo == true
                        ? AudioSpecificConfig.ObjectType.parametricStereo : AudioSpecificConfig.ObjectType.sbr)
            let doubles = hasSBR == true && config.extendedSampleRate ?? .max > config.coreSampleRate
            self.hasSBR = hasSBR == true
            self.config = hasSBR == true ? config.withSBR : config.bytes
            packetFrameCount = (doubles ? 2 : 1) * AudioSpecificConfig.coreFrameCount
            format = PCMFormat(
                sampleRate: (doubles ? 2 : 1) * config.coreSampleRate,
                channelCount: hasParametricStereo == true ? 2 : config.channelCount, bitDepth: Self.bitDepth)
        }
    }
#endif
