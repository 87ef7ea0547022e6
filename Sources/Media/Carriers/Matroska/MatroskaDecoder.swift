import PCM

extension MatroskaContainer {
    /// The decoder of its packets, at the first frame.
    func decoder(_ steps: StepSource) throws(Interruption) -> TrackDecoder {
        switch codec {
        case .ogg(let content):
            try prepare()
            let codec: any Codec =
                switch content {
                case .opus(let head): FloatPacketCodec(self, try OpusLibrary(head), head.format)
                case .vorbis(let setup): FloatPacketCodec(self, try VorbisLibrary(setup), setup.format)
                case .flac(let info): try FLACFrameCodec(self, info, longestSilence: .max)
                }
            return TrackDecoder(track, self, codec, steps)
        case .aac(let config): return try decoder(config, steps)
        case .alac(let config):
            try prepare()
            return TrackDecoder(track, self, ALACCodec(self, config), steps)
        case .pcm(let description):
            try prepare()
            let codec = PCMCodec(self, description.layout, channelCount: description.channelCount)
            return TrackDecoder(track, self, codec, steps)
        case .mpegAudio: return try mpegDecoder(steps)
        case .wavpack(let storage, _): return try decoder(storage, steps)
        }
    }

    private func decoder(_ config: AudioSpecificConfig, _ steps: StepSource) throws(Interruption) -> TrackDecoder {
        #if AAC
            let stream = try AACStream(config, self)
            let count = stream.packetFrameCount
            try prepare(format: stream.format, packetFrameCount: count, preroll: stream.preroll * Int64(count))
            return TrackDecoder(track.with(stream), self, try AACCodec(self, stream), steps)
        #else
            throw .unsupported(what: "Matroska with \(AACSupport.missing)")
        #endif
    }

    private func decoder(_ storage: MatroskaWavPack, _ steps: StepSource) throws(Interruption) -> TrackDecoder {
        let packets = try MatroskaWavPackPackets(self, storage)
        let setup = packets.setup
        let format = PCMFormat(
            sampleRate: try AudioLimits.sampleRate(UInt64(setup.sampleRate), of: "WavPack"),
            channelCount: setup.channelCount, bitDepth: setup.bitDepth)
        try prepare(format: format)
        var description = try setup.track(
            in: .matroska, frameCount: track.properties.frameCount, track.metadata)
        description.properties.bitRate = track.properties.bitRate
        if let words = try setup.words(of: description, frameCount: track.properties.frameCount) {
            return TrackDecoder(description, words: words, WavPackDSDPackets(packets, setup), steps)
        }
        let codec = WavPackCodec(packets, setup, description.properties.format)
        return TrackDecoder(description, packets, codec, steps)
    }

    private func mpegDecoder(_ steps: StepSource) throws(Interruption) -> TrackDecoder {
        // The first packet may be a header without sound.
        let edit = try nextPacket().flatMap { MPEGInfo.edit(of: $0.bytes) }
        let samples = try MP3Samples(self)
        try prepare(format: samples.format, packetFrameCount: samples.packetFrameCount, edit: edit)
        var description = track
        description.properties.codec = samples.codec
        return TrackDecoder(description, samples, try MP3Codec(samples, samples.format), steps)
    }
}
