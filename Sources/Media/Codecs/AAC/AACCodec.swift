#if AAC
    import PCM

    /// AAC in packets without headers, by libfaad2.
    final class AACCodec: Codec {
        private(set) var damage = DamageReport()

        private let packets: any TimedPacketSource
        private let packetFrameCount: Int
        private let config: [UInt8]
        private var library: FAADLibrary
        /// As `Packet.otherStream`.
        private var stream: UInt16?
        /// Of such a stream, while it may turn out to have SBR.
        private var otherConfig: AudioSpecificConfig?
        /// Whether the stream has one channel.
        private var isMono: Bool
        private let isFirstMono: Bool
        private var format: PCMFormat
        /// Of the samples in `kept`.
        private var pendingFormat: PCMFormat
        private var kept = SampleStore()
        /// Silent frames that replace a packet that cannot be decoded.
        private var pendingSilence = 0

        init(_ packets: any TimedPacketSource, _ stream: AACStream) throws(Interruption) {
            self.packets = packets
            packetFrameCount = stream.packetFrameCount
            config = stream.config
            library = try FAADLibrary(config)
            format = stream.format
            pendingFormat = format
            isFirstMono = format.channelCount == 1
            isMono = isFirstMono
        }

        func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(Interruption) -> CodecRun {
            while true {
                if let run = takePending(into: buffer) { return run }
                guard let packet = try packets.nextPacket() else { return .end }
                decode(packet)
            }
        }

        // The decoder keeps its state, with the settings of SBR, which are not in every packet. The first packets of
        // the new place replace the rest of it, and are not played. Before the first packet of all there are none.
        func seek(toFrame frame: Int64) throws(Interruption) -> Int64 {
            kept.drop(.max)
            pendingSilence = 0
            let start = try packets.seek(toFrame: frame)
            if start <= 0 { try begin(nil) }
            return start
        }

        private func takePending(into buffer: UnsafeMutableBufferPointer<Int32>) -> CodecRun? {
            let channelCount = format.channelCount
            if pendingSilence > 0 {
                let count = min(pendingSilence, buffer.count / channelCount)
                buffer[..<(count * channelCount)].update(repeating: 0)
                pendingSilence -= count
                damage.silencedFrames += Int64(count)
                return .frames(count)
            }
            guard kept.count > 0 else { return nil }
            if pendingFormat != format {
                format = pendingFormat
                return .format(format)
            }
            let taken = kept.take(buffer.count / channelCount * channelCount, into: buffer)
            return .frames(taken / channelCount)
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

        /// Begins a stream with other channels or another rate.
        private func begin(_ other: UInt16?) throws(Interruption) {
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

        private func decode(_ packet: Packet) {
            guard let block = decoded(packet) else {
                damage.incidents += 1
                pendingSilence = max(0, packetFrameCount - packet.trim.leading - packet.trim.trailing)
                return
            }
            // libfaad2 makes two equal channels of one, in case parametric stereo begins.
            let isOne = block.channelCount == 2 && isMono && !block.hasParametricStereo
            let channelCount = isOne ? 1 : block.channelCount
            pendingFormat = PCMFormat(
                sampleRate: block.sampleRate, channelCount: channelCount, bitDepth: format.bitDepth)
            let first = min(max(0, packet.trim.leading), block.frameCount)
            let end = max(first, block.frameCount - max(0, packet.trim.trailing))
            let target = kept.replace(count: (end - first) * channelCount)
            for channel in 0..<channelCount {
                var source = first * block.channelCount + Int(block.order >> UInt32(4 * channel) & 0xF)
                for place in stride(from: channel, to: target.count, by: channelCount) {
                    target[place] = block.samples[source] << 8
                    source += block.channelCount
                }
            }
        }
    }
#endif
