import PCM

/// The opening of one source, or of segments. It can be repeated when bytes were missing.
///
/// Thread: only the decoder thread.
public final class AudioOpening {
    private let steps: StepSource
    /// The segments; nil for one source.
    private let chain: SegmentChain?
    private let licenses: (any LicenseProvider)?

    /// - Parameter licenses: for encrypted content.
    public init(_ source: any ByteSource, licenses: (any LicenseProvider)? = nil) {
        chain = nil
        steps = StepSource(source)
        self.licenses = licenses
    }

    /// Segments of ISO base media, packed AAC or MP3, or one segment with a file of any kind.
    /// - Parameter licenses: for encrypted content.
    public init(_ segments: any SegmentedSource, licenses: (any LicenseProvider)? = nil) {
        let chain = SegmentChain(segments)
        self.chain = chain
        steps = StepSource(chain)
        self.licenses = licenses
    }

    /// Opens the source.
    /// - Returns: nil when bytes are not there yet. Repeat it when the source is readable; it continues where it
    ///   stopped.
    /// - Throws: as `AudioFile.open`.
    public func attempt() throws(MediaError) -> (any AudioDecoder)? {
        do throws(Interruption) {
            let decoder = if let chain { try open(chain) } else { try open(steps) }
            steps.finishStep()
            return decoder
        } catch {
            switch error {
            case .notYet: return nil
            case .failed(let error): throw error
            }
        }
    }

    /// Checks only the first bytes.
    /// - Returns: nil when bytes are not there yet.
    func attemptToRecognise() throws(MediaError) -> AudioProperties.Container? {
        do throws(Interruption) { return try recognise(steps).container } catch {
            switch error {
            case .notYet: return nil
            case .failed(let error): throw error
            }
        }
    }

    /// Calls `wake` once, from any thread, when an `attempt` that returned nil should be repeated.
    public func whenReadable(_ wake: @escaping @Sendable () -> Void) { steps.whenReadable(wake) }

    /// - Parameter source: reads through `steps`.
    private func open(_ source: any ByteSource) throws(Interruption) -> any AudioDecoder {
        let found = try recognise(source)
        let tags = try ID3v2.read(from: source, from: 0, upTo: found.tagsEnd)
        let audio: any ByteSource = found.start > 0 ? SourceSlice(source, from: found.start) : source
        switch found.container {
        case .flac:
            let container = try FLACContainer(audio, steps: steps, tags: tags, base: found.start)
            return TrackDecoder(container.track, container, try FLACStreamCodec(container), steps)
        case .wav:
            let container = try WAVContainer(audio, tags: tags, base: found.start)
            return decoder(of: container.packets, container.track)
        case .aiff:
            let container = try AIFFContainer(audio, tags: tags, base: found.start)
            return decoder(of: container.packets, container.track)
        case .mp4:
            return try decoder(of: try MP4Container(audio, tags: tags, base: found.start))
        case .adts:
            return try decoder(of: try ADTSContainer(audio, tags: tags, base: found.start))
        case .mp3:
            let container = try MP3Container(audio, tags: tags, base: found.start)
            let codec = try MP3Codec(container, container.track.properties.format)
            return TrackDecoder(container.track, container, codec, steps)
        case .ogg:
            let container = try OggContainer(audio, tags: tags, base: found.start)
            return TrackDecoder(container.track, container, try OggCodec(container), steps)
        case .wavpack:
            let container = try WavPackContainer(audio, tags: tags, base: found.start)
            if let words = container.words {
                return TrackDecoder(container.track, words: words, WavPackDSDPackets(container, container.setup), steps)
            }
            let codec = WavPackCodec(container, container.setup, container.track.properties.format)
            return TrackDecoder(container.track, container, codec, steps)
        case .dsf:
            let container = try DSFContainer(audio, tags: tags, base: found.start)
            return TrackDecoder(container.track, words: container.words, container.packets, steps)
        case .dff:
            let container = try DFFContainer(audio, tags: tags, base: found.start)
            return TrackDecoder(container.track, words: container.words, container.packets, steps)
        case .matroska:
            return try MatroskaContainer(audio, tags: tags, base: found.start).decoder(steps)
        }
    }

    private func open(_ chain: SegmentChain) throws(Interruption) -> any AudioDecoder {
        let first = SegmentChain.offsets(of: SegmentChain.firstRegion).lowerBound
        if chain.hasInitialization {
            let start = SegmentChain.offsets(of: SegmentChain.initializationRegion).lowerBound
            let head = try SourceReader(steps).bytes(Signature.byteCount, at: start)
            // MPEG-TS may have an initialization segment, too.
            if Signature.isTransportStream(head) { throw .unsupported(what: "segments of MPEG-TS") }
        } else {
            guard try chain.hasSegment(SegmentChain.firstRegion) else { throw .failed(.empty) }
            let head = try SourceReader(steps).bytes(Signature.byteCount, at: first)
            guard Signature.container(of: head) == .mp4 else {
                if let start = try startOfMPEG(at: first), try chain.hasSegment(SegmentChain.firstRegion + 1) {
                    let container = try MP3Container(steps, tags: TrackMetadata(), base: start, chain: chain)
                    let codec = try MP3Codec(container, container.track.properties.format)
                    return TrackDecoder(container.track, container, codec, steps)
                }
                if try PackedSegments.firstPacket(of: steps, at: first) != nil {
                    return try decoder(of: try ADTSContainer(steps, tags: TrackMetadata(), chain: chain))
                }
                guard try !chain.hasSegment(SegmentChain.firstRegion + 1) else {
                    throw .unsupported(
                        what: Signature.name(of: head).map { "segments of \($0)" }
                            ?? "segments that are neither MP4, AAC nor MP3")
                }
                return try open(SourceSlice(steps, from: first))
            }
        }
        return try decoder(of: try MP4Container(steps, tags: TrackMetadata(), chain: chain))
    }

    /// The first frame of MPEG audio in a segment, after its tags; nil for a segment of another kind.
    private func startOfMPEG(at offset: Int64) throws(Interruption) -> Int64? {
        let start = try MPEGTags.end(of: steps, at: offset)
        return try MPEGSync(PagePairSource(steps)).stream(at: start) != nil ? start : nil
    }

    private func decoder(of container: MP4Container) throws(Interruption) -> TrackDecoder {
        let packets = try decrypted(container)
        switch container.codec {
        case .flac(let info):
            return TrackDecoder(container.track, packets, try FLACFrameCodec(packets, info), steps)
        case .aac(let config):
            #if AAC
                let stream = try AACStream(config, packets)
                try container.decode(
                    to: stream.format, packetFrameCount: stream.packetFrameCount, preroll: stream.preroll)
                let codec = try AACCodec(packets, stream)
                _ = try packets.seek(toFrame: 0)
                return TrackDecoder(container.track.with(stream), packets, codec, steps)
            #else
                _ = config
                throw .unsupported(what: "MP4 with \(AudioFormats.missingAAC)")
            #endif
        case .alac(let config):
            return TrackDecoder(container.track, packets, ALACCodec(packets, config), steps)
        case .pcm(let pcm):
            let codec = PCMCodec(packets, pcm.layout, channelCount: pcm.channelCount)
            return TrackDecoder(container.track, packets, codec, steps)
        case .mp3:
            let samples = try MP3Samples(packets)
            try container.decode(to: samples.format, packetFrameCount: samples.packetFrameCount, preroll: 0)
            let codec = try MP3Codec(samples, samples.format)
            _ = try samples.seek(toFrame: 0)
            var track = container.track
            track.properties.codec = samples.codec
            return TrackDecoder(track, samples, codec, steps)
        case .opus(let head):
            let samples = try OpusSamples(packets, isExact: container.hasExactTimes)
            try container.decode(
                to: head.format, packetFrameCount: samples.packetFrameCount, preroll: samples.preroll)
            let codec = FloatPacketCodec(samples, try OpusLibrary(head), head.format)
            _ = try samples.seek(toFrame: 0)
            return TrackDecoder(container.track, samples, codec, steps)
        // A codec in MP4 that is not played yet.
        case .other(let name):
            throw .unsupported(what: "MP4 with \(name)")
        }
    }

    /// The packets of the container, decrypted when they are encrypted.
    private func decrypted(_ container: MP4Container) throws(Interruption) -> any TimedPacketSource {
        guard container.encryptionScheme != nil else { return container }
        let systems = container.protectionSystems.map {
            ProtectionSystem(system: KeySystem(id: $0.systemID), box: $0.box)
        }
        guard let licenses else { throw .failed(.protected(by: KeySystem.names(of: systems))) }
        return PacketDecryption(container, licenses, systems)
    }

    private func decoder(of container: ADTSContainer) throws(Interruption) -> TrackDecoder {
        #if AAC
            let stream = try AACStream(container.config, container)
            container.decode(to: stream.format, packetFrameCount: stream.packetFrameCount, preroll: stream.preroll)
            let codec = try AACCodec(container, stream)
            _ = try container.seek(toFrame: 0)
            return TrackDecoder(container.track.with(stream), container, codec, steps)
        #else
            throw .unsupported(what: AudioFormats.missingAAC)
        #endif
    }

    private func decoder(of packets: PCMPackets, _ track: TrackDescription) -> TrackDecoder {
        let codec = PCMCodec(packets, packets.layout, channelCount: packets.format.channelCount)
        return TrackDecoder(track, packets, codec, steps)
    }

    private struct Finding {
        var container: AudioProperties.Container
        /// The offset of the end of the tags before the container.
        var tagsEnd: Int64
        /// The offset of the container.
        var start: Int64
    }

    private func recognise(_ source: any ByteSource) throws(Interruption) -> Finding {
        let tagsEnd = try ID3v2.end(of: source, at: 0)
        var start = tagsEnd
        var head = try SourceReader(source).bytes(Signature.byteCount, at: start)
        if start == 0, head.isEmpty { throw .failed(.empty) }
        if APETag(head)?.isHeader == true {
            start = try MPEGTags.end(of: source, at: start)
            head = try SourceReader(source).bytes(Signature.byteCount, at: start)
        }
        if let container = Signature.container(of: head) {
            if container == .wav, let data = try WAVHeader.startOfMPEG(in: source, at: start, head),
                try MPEGSync(PagePairSource(source)).stream(at: data) != nil
            {
                return Finding(container: .mp3, tagsEnd: tagsEnd, start: data)
            }
            return Finding(container: container, tagsEnd: tagsEnd, start: start)
        }
        let name = Signature.name(of: head)
        if try ADTSHeader.begins(source, at: start) {
            return Finding(container: .adts, tagsEnd: tagsEnd, start: start)
        }
        if try MPEGSync(PagePairSource(source)).stream(at: start) != nil {
            return Finding(container: .mp3, tagsEnd: tagsEnd, start: start)
        }
        guard Signature.mayHideAudio(name) else { throw try refusal(head, name, source, start) }
        if let found = try FLACSearch.start(in: source, from: start) {
            // Ogg has FLAC's marker in its first page.
            if let page = try OggPages.start(in: source, from: max(start, found.offset - 64), upTo: found.offset) {
                return Finding(container: .ogg, tagsEnd: tagsEnd, start: page)
            }
            return Finding(container: .flac, tagsEnd: tagsEnd, start: found.offset)
        }
        let blocks = WavPackBlocks(source: PagePairSource(source), end: nil)
        if let found = try blocks.search(from: start, upTo: start + MPEGSync.mostJunk) {
            return Finding(container: .wavpack, tagsEnd: tagsEnd, start: found)
        }
        // A tag whose size is larger than the file is damaged, and does not show where the frames begin.
        let isBeyond = head.isEmpty
        // A recording may begin inside of a packet.
        let paged = PagePairSource(source)
        if let found = try ADTSHeader.search(
            paged, from: isBeyond ? 0 : start, limit: ADTSHeader.mostJunk, headers: ADTSHeader.testedHeaders + 1)
        {
            return Finding(container: .adts, tagsEnd: min(tagsEnd, found), start: found)
        }
        let sync = MPEGSync(PagePairSource(source))
        if let found = try sync.search(
            from: isBeyond ? 0 : start, limit: isBeyond ? MPEGWalk.mostJunk : MPEGSync.mostJunk)
        {
            return Finding(container: .mp3, tagsEnd: min(tagsEnd, found.offset), start: found.offset)
        }
        if let page = try OggPages.start(in: source, from: start, upTo: start + MPEGSync.mostJunk) {
            return Finding(container: .ogg, tagsEnd: tagsEnd, start: page)
        }
        throw try refusal(head, name, source, start)
    }

    /// Why bytes after tags, if there are any, are not played.
    private func refusal(
        _ head: [UInt8], _ name: String?, _ source: any ByteSource, _ start: Int64
    ) throws(Interruption) -> Interruption {
        if let name = Signature.unplayed(head) { return .unsupported(what: name) }
        // Tags of other kinds may follow, and a tag may end in zeros.
        let end = try MPEGTags.end(of: source, at: start)
        if end > 0, try SourceReader(source).bytes(Signature.byteCount, at: end).allSatisfy({ $0 == 0 }) {
            return .failed(.notAudio(looksLike: "tags without audio"))
        }
        return .failed(.notAudio(looksLike: name ?? (start > 0 ? "MP3" : nil)))
    }
}

#if AAC
    extension TrackDescription {
        /// The description with the properties that only the AAC stream itself contains.
        func with(_ stream: AACStream) -> TrackDescription {
            var description = self
            description.properties.aacObjectType = stream.objectType
            return description
        }
    }
#endif
