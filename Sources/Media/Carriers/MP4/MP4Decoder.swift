extension MP4Container {
    /// The decoder of its packets, at the first frame.
    /// - Parameter licenses: for encrypted content.
    func decoder(_ steps: StepSource, _ licenses: (any LicenseProvider)?) throws(Interruption) -> TrackDecoder {
        let packets = try decrypted(licenses)
        switch codec {
        case .flac(let info):
            return TrackDecoder(track, packets, try FLACFrameCodec(packets, info), steps)
        case .aac(let config):
            #if AAC
                let stream = try AACStream(config, packets)
                try decode(
                    to: stream.format, packetFrameCount: stream.packetFrameCount, preroll: stream.preroll)
                let codec = try AACCodec(packets, stream)
                _ = try packets.seek(toFrame: 0)
                return TrackDecoder(track.with(stream), packets, codec, steps)
            #else
                _ = config
                throw .unsupported(what: "MP4 with \(AACSupport.missing)")
            #endif
        case .alac(let config):
            return TrackDecoder(track, packets, ALACCodec(packets, config), steps)
        case .pcm(let pcm):
            let codec = PCMCodec(packets, pcm.layout, channelCount: pcm.channelCount)
            return TrackDecoder(track, packets, codec, steps)
        case .mp3:
            let samples = try MP3Samples(packets)
            try decode(to: samples.format, packetFrameCount: samples.packetFrameCount, preroll: 0)
            let codec = try MP3Codec(samples, samples.format)
            _ = try samples.seek(toFrame: 0)
            var track = self.track
            track.properties.codec = samples.codec
            return TrackDecoder(track, samples, codec, steps)
        case .opus(let head):
            let samples = try OpusSamples(packets, isExact: hasExactTimes)
            try decode(
                to: head.format, packetFrameCount: samples.packetFrameCount, preroll: samples.preroll)
            let codec = FloatPacketCodec(samples, try OpusLibrary(head), head.format)
            _ = try samples.seek(toFrame: 0)
            return TrackDecoder(track, samples, codec, steps)
        // A codec in MP4 that is not played yet.
        case .other(let name):
            throw .unsupported(what: "MP4 with \(name)")
        }
    }

    /// The packets of the container, decrypted when they are encrypted.
    private func decrypted(_ licenses: (any LicenseProvider)?) throws(Interruption) -> any TimedPacketSource {
        guard encryptionScheme != nil else { return self }
        let systems = protectionSystems.map {
            ProtectionSystem(system: KeySystem(id: $0.systemID), box: $0.box)
        }
        guard let licenses else { throw .failed(.protected(by: KeySystem.names(of: systems))) }
        return PacketDecryption(self, licenses, systems)
    }
}
