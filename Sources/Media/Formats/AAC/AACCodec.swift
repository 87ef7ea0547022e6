#if AAC
    import PCM

    /// AAC in packets without headers, by libfaad2.
    final class AACCodec: Codec {
        private let packets: any TimedPacketSource
        private let packetFrameCount: Int
        private let config: [UInt8]
        private var library: FAADLibrary
        /// The header fields of the stream that is decoded, as `Packet.otherStream`.
        private var stream: UInt16?
        /// The configuration of that stream while it may turn out to have SBR; nil otherwise.
        private var otherConfig: AudioSpecificConfig?
        /// Whether the stream has one channel.
        private var isMono: Bool
        private let isFirstMono: Bool
        private var samples: PacketSamples
        /// Whether `library` has decoded a packet.
        private var hasDecoded = false

        init(_ packets: any TimedPacketSource, _ stream: AACStream) throws(Interruption) {
            self.packets = packets
            packetFrameCount = stream.packetFrameCount
            config = stream.config
            library = try FAADLibrary(config)
            samples = PacketSamples(stream.format)
            isFirstMono = stream.format.channelCount == 1
            isMono = isFirstMono
        }

        var damage: DamageReport { samples.damage }

        func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(Interruption) -> CodecRun {
            try samples.read(into: buffer, from: packets) { packet, samples in decode(packet, into: &samples) }
        }

        // The decoder keeps its state, with the settings of SBR, which are not in every packet. The first packets at
        // the new position replace the rest of its state, and are not played. There are none before the first packet of
        // the stream.
        func seek(toFrame frame: Int64) throws(Interruption) -> Int64 {
            samples.drop()
            let start = try packets.seek(toFrame: frame)
            if start <= 0 { try begin(nil) }
            return start
        }

        /// - Returns: nil for a packet that is damaged.
        private func decoded(_ packet: Packet) -> FAADLibrary.Block? {
            do throws(Interruption) {
                if packet.otherStream != stream { try begin(packet.otherStream) }
                let block = library.decode(packet.bytes)
                guard let block, block.hasSBR, let other = otherConfig else { return block }
                library = try FAADLibrary(other.withSBR)
                otherConfig = nil
                return library.decode(packet.bytes)
            } catch {
                return nil
            }
        }

        /// Begins to decode a stream with other channels or another rate.
        private func begin(_ other: UInt16?) throws(Interruption) {
            hasDecoded = false
            if let other {
                let config = try AudioSpecificConfig(ADTSHeader.config(ofStream: other))
                library = try FAADLibrary(config.bytes)
                otherConfig = config
                isMono = config.channelCount == 1
            } else {
                library = try FAADLibrary(config)
                otherConfig = nil
                isMono = isFirstMono
            }
            stream = other
        }

        private func decode(_ packet: Packet, into samples: inout PacketSamples) {
            guard let block = decoded(packet) else {
                // A damaged first packet leaves libfaad2 with wrong channels for ever.
                if !hasDecoded { do throws(Interruption) { try begin(stream) } catch {} }
                return samples.lose(Int64(packetFrameCount - packet.trim.leading - packet.trim.trailing))
            }
            hasDecoded = true
            // libfaad2 makes two equal channels of one, in case parametric stereo begins.
            let isOne = block.channelCount == 2 && isMono && !block.hasParametricStereo
            let channelCount = isOne ? 1 : block.channelCount
            let first = min(max(0, packet.trim.leading), block.frameCount)
            let end = max(first, block.frameCount - max(0, packet.trim.trailing))
            let target = samples.replace(
                frameCount: end - first, sampleRate: block.sampleRate, channelCount: channelCount)
            guard let source = block.samples.baseAddress, let start = target.baseAddress else { return }
            if channelCount == block.channelCount, block.isInOrder {
                let count = (end - first) * channelCount
                return FloatSamples.leftJustify(source + first * channelCount, count: count, to: start)
            }
            for channel in 0..<channelCount {
                var place = first * block.channelCount + Int(block.order >> UInt32(4 * channel) & 0xF)
                for index in stride(from: channel, to: target.count, by: channelCount) {
                    start[index] = FloatSamples.leftJustified(source[place])
                    place += block.channelCount
                }
            }
        }
    }
#endif
