import PCM

/// The description of a track in its boxes, for the format to which it is decoded. The format of AAC is known only when
/// the first packets are decoded.
struct MP4Description {
    let movie: MP4Movie
    let track: MP4Track
    /// The tags before the file; its own tags override them.
    let tags: TrackMetadata
    /// Where the source begins in the file; nil for segments, which cannot address pictures.
    let base: Int64?
    /// The media time of the first frame.
    let origin: Int64
    /// The end of the media; nil when it is not known.
    let end: End?
    /// The size of the source; nil when it is not known.
    let byteCount: Int64?
    /// The duration in a manifest, in seconds.
    let manifestDuration: Double?

    struct End {
        var time: Int64
        /// Units per second of `time`.
        var timescale: Int64
    }

    /// - Parameter decoded: frames that the media decodes to, if that is known better than by its durations.
    /// - Returns: the track, and whether its number of frames comes only from a manifest.
    func track(
        _ format: PCMFormat, _ codec: AudioProperties.Codec, _ time: MP4Time, decoded: Int64? = nil
    ) -> (TrackDescription, isEstimated: Bool) {
        let mediaEnd = end.map { MP4Time.scale($0.time, time.sampleRate, $0.timescale, rounding: $0.timescale / 2) }
        var edit = movie.trackEdit(track, time, origin: origin, end: mediaEnd)
        // Fragments may have no edit list that drops the start.
        var preSkip: Int64 = 0
        if origin == 0, track.edits.edits.isEmpty, case .opus(let head)? = track.entries.first?.codec {
            preSkip = Int64(head.preSkip)
            edit = TrackEdit(leading: preSkip)
        }
        var frameCount = edit.frameCount(ofDecoded: decoded ?? mediaEnd)
        var isEstimated = false
        if frameCount == nil, let duration = movie.fragmentedDuration, duration > 0 {
            frameCount = MP4Time.scale(
                duration, time.sampleRate, movie.timescale, rounding: movie.timescale / 2)
        }
        if let manifestDuration, let frames = Int64(exactly: (manifestDuration * Double(time.sampleRate)).rounded()) {
            // Segments may be a part of the recording that the movie box describes: a period of DASH.
            let isPart = frameCount.map { frames < $0 - time.sampleRate / 2 } ?? true
            if isPart {
                isEstimated = true
                frameCount = frames
            }
        }
        var properties = AudioProperties(
            format: format, frameCount: frameCount, container: .mp4, codec: codec, bitRate: nil)
        properties.mediaStart =
            Double(track.edits.start(ofMediaFrom: origin + track.compositionOffset)) / Double(time.timescale)
            + Double(preSkip) / Double(time.sampleRate)
        if movie.trackCount == 1, let byteCount, let seconds = properties.duration, seconds > 0 {
            properties.bitRate = Int32(exactly: (Double(byteCount) * 8 / seconds).rounded(.down)).map { Int($0) }
        }
        // The digest covers all samples, and an edit list may drop some.
        if track.entries.count == 1, case .flac(let info) = track.entries[0].codec, info.frameCount == frameCount,
            !isEstimated
        {
            properties.sampleDigest = info.sampleDigest
        }
        var own = movie.tags?.metadata
        if base == nil { own?.pictures = [] }
        let metadata = tags.overridden(by: own, at: base ?? 0)
        return (TrackDescription(properties: properties, metadata: metadata, edit: edit), isEstimated)
    }
}

extension MP4SampleEntry.Codec {
    /// The format, as far as the container has it; nil for a codec that is not supported.
    var format: PCMFormat? {
        switch self {
        case .flac(let info): info.format
        case .aac(let config):
            PCMFormat(
                sampleRate: config.extendedSampleRate ?? config.coreSampleRate, channelCount: config.channelCount,
                bitDepth: 24)
        case .alac(let config): config.format
        case .pcm(let description): description.format
        case .mp3(let format): format
        case .opus(let head): head.format
        case .other: nil
        }
    }

    var name: AudioProperties.Codec {
        switch self {
        case .flac, .other: .flac
        case .aac: .aac
        case .alac: .alac
        case .pcm(let description): description.layout.codec
        case .mp3: .mp3
        case .opus: .opus
        }
    }
}
