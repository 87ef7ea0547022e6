#if AAC
    import CFAAD
    import Platform

    /// A decoder of libfaad2 for packets without headers. Closing is its end; it cannot be copied.
    ///
    /// Thread: only the decoder thread.
    struct FAADLibrary: ~Copyable {
        private let handle: NeAACDecHandle

        /// A decoded packet.
        struct Block {
            /// Interleaved in the order of libfaad2, which `order` maps to the played one; valid until the next call.
            var samples: UnsafeBufferPointer<Float>
            /// The number of channels of a frame in `samples`.
            var channelCount: Int
            var sampleRate: Int
            var hasSBR: Bool
            var hasParametricStereo: Bool
            /// The channel of `samples` for each played channel, in order: 4 bits each, the first one lowest.
            var order: UInt32

            var frameCount: Int { samples.count / channelCount }

            /// Whether the first channels have the order in which they are played.
            var isInOrder: Bool { (0..<channelCount).allSatisfy { order >> UInt32(4 * $0) & 0xF == $0 } }
        }

        /// ENOMEM of Linux.
        private static let outOfMemory = SystemError(code: 12, operation: "open a decoder of AAC")

        /// - Parameter config: an AudioSpecificConfig.
        init(_ config: [UInt8]) throws(Interruption) {
            guard let handle = NeAACDecOpen() else { throw .source(.medium(Self.outOfMemory)) }
            if let configuration = NeAACDecGetCurrentConfiguration(handle) {
                // Its own rounding to 24 bits has the same result, and costs a call for each sample.
                configuration.pointee.outputFormat = UInt8(FAAD_FMT_FLOAT)
                // Low sample rates without SBR keep their rate.
                configuration.pointee.dontUpSampleImplicitSBR = 1
                _ = NeAACDecSetConfiguration(handle, configuration)
            }
            var config = config
            var sampleRate: CUnsignedLong = 0
            var channelCount: UInt8 = 0
            let code = NeAACDecInit2(handle, &config, CUnsignedLong(config.count), &sampleRate, &channelCount)
            guard code >= 0 else {
                NeAACDecClose(handle)
                throw .damaged(what: "AAC with a configuration that is not valid")
            }
            // libfaad2 withholds the output of its first packet, unless it has one before.
            NeAACDecPostSeekReset(handle, 1)
            self.handle = handle
        }

        deinit { NeAACDecClose(handle) }

        /// Decodes one packet.
        /// - Returns: nil when it is damaged.
        mutating func decode(_ packet: UnsafeRawBufferPointer) -> Block? {
            guard packet.count > 0, let bytes = packet.bindMemory(to: UInt8.self).baseAddress else { return nil }
            var info = NeAACDecFrameInfo()
            let output = NeAACDecDecode(
                handle, &info, UnsafeMutablePointer(mutating: bytes), CUnsignedLong(packet.count))
            guard info.error == 0, let output, info.samples > 0, 1...AACChannels.most ~= Int(info.channels),
                let sampleRate = Int(exactly: info.samplerate), AudioLimits.sampleRates ~= sampleRate
            else { return nil }
            let channelCount = Int(info.channels)
            // 2048 frames, and a few channels.
            let count = Int(info.samples) / channelCount * channelCount
            return Block(
                samples: UnsafeBufferPointer(start: output.assumingMemoryBound(to: Float.self), count: count),
                channelCount: channelCount, sampleRate: sampleRate, hasSBR: info.sbr != 0,
                hasParametricStereo: info.ps != 0, order: Self.order(&info, channelCount))
        }

        /// AAC begins with the centre; it is played in the order of WAV's mask.
        private static func order(_ info: inout NeAACDecFrameInfo, _ channelCount: Int) -> UInt32 {
            withUnsafeBytes(of: &info.channel_position) { positions in
                var order: UInt32 = 0
                var index: UInt32 = 0
                for rank in 0...rankOfOthers {
                    for channel in 0..<channelCount where Self.rank(positions[channel]) == rank {
                        order |= UInt32(channel) << (4 * index)
                        index += 1
                    }
                }
                return order
            }
        }

        private static let rankOfOthers = 9

        private static func rank(_ position: UInt8) -> Int {
            switch Int32(position) {
            case FRONT_CHANNEL_LEFT: 0
            case FRONT_CHANNEL_RIGHT: 1
            case FRONT_CHANNEL_CENTER: 2
            case LFE_CHANNEL: 3
            case BACK_CHANNEL_LEFT: 4
            case BACK_CHANNEL_RIGHT: 5
            case BACK_CHANNEL_CENTER: 6
            case SIDE_CHANNEL_LEFT: 7
            case SIDE_CHANNEL_RIGHT: 8
            default: rankOfOthers
            }
        }
    }
#endif
