import PCM

/// The opening of one source. It can be repeated when bytes were missing.
///
/// Thread: only the decoder thread.
public final class AudioOpening {
    private let steps: StepSource

    public init(_ source: any ByteSource) { steps = StepSource(source) }

    /// Opens the source.
    /// - Returns: nil when bytes are not there yet. Repeat it when the source is readable; it continues where it
    ///   stopped.
    /// - Throws: as `AudioFile.open`.
    public func attempt() throws(MediaError) -> (any AudioDecoder)? {
        do throws(Interruption) {
            let decoder = try open()
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
        do throws(Interruption) { return try recognise().container } catch {
            switch error {
            case .notYet: return nil
            case .failed(let error): throw error
            }
        }
    }

    private func open() throws(Interruption) -> any AudioDecoder {
        let found = try recognise()
        let tags = found.tagsEnd > 0 ? try ID3v2.read(from: steps, at: 0) : TrackMetadata()
        let audio: any ByteSource = found.start > 0 ? SourceSlice(steps, from: found.start) : steps
        switch found.container {
        case .flac:
            let container = try FLACContainer(audio, steps: steps, tags: tags)
            return TrackDecoder(container.track, container, try FLACStreamCodec(container), steps)
        case .wav:
            let container = try WAVContainer(audio, tags: tags)
            return decoder(of: container.packets, container.track)
        case .aiff:
            let container = try AIFFContainer(audio, tags: tags)
            return decoder(of: container.packets, container.track)
        case .mp4:
            let container = try MP4Container(audio, tags: tags)
            if let scheme = container.encryptionScheme {
                throw .unsupported(what: "encrypted MP4 (\(scheme.rawValue))")
            }
            guard case .flac(let info) = container.codec else { throw .unsupported(what: "MP4 with an unknown codec") }
            return TrackDecoder(container.track, container, try FLACFrameCodec(container, info), steps)
        }
    }

    private func decoder(of packets: PCMPackets, _ track: TrackDescription) -> TrackDecoder {
        let codec = PCMCodec(packets, packets.layout, channelCount: packets.format.channelCount)
        return TrackDecoder(track, packets, codec, steps)
    }

    private struct Finding {
        var container: AudioProperties.Container
        /// Where the tags before the container end.
        var tagsEnd: Int64
        /// Where the container begins.
        var start: Int64
    }

    private func recognise() throws(Interruption) -> Finding {
        let start = try ID3v2.end(of: steps, at: 0)
        let head = try SourceReader(steps).bytes(Signature.byteCount, at: start)
        if start == 0, head.isEmpty { throw .failed(.empty) }
        if let container = Signature.container(of: head) {
            return Finding(container: container, tagsEnd: start, start: start)
        }
        let name = Signature.name(of: head)
        if Signature.mayHideFLAC(name), let found = try FLACSearch.start(in: steps, from: start) {
            return Finding(container: .flac, tagsEnd: start, start: found.offset)
        }
        throw .failed(.notAudio(looksLike: name ?? (start > 0 ? "MP3" : nil)))
    }
}
