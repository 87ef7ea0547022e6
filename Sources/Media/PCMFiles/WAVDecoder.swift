/// WAV with integer PCM: RIFF and RF64 (EBU Tech 3306).
final class WAVDecoder: AudioDecoder {
    let properties: AudioProperties
    let metadata: TrackMetadata
    var damage: DamageReport { frames.damage }

    private let frames: PCMFrameReader

    init(_ source: any ByteSource, tags: TrackMetadata) throws(MediaError) {
        let header = try WAVHeader(source)
        guard let format = header.format else { throw .damaged(what: "WAV without a format") }
        guard let data = header.data else { throw .damaged(what: "WAV without data") }
        frames = PCMFrameReader(
            source, layout: format.layout, channelCount: format.channelCount, sampleRate: format.sampleRate,
            dataOffset: data.offset, declaredBytes: data.byteCount)
        metadata = tags.overridden(by: header.tags)
        properties = AudioProperties(
            format: frames.format, frameCount: frames.frameCount, container: .wav, codec: .pcm, bitRate: frames.bitRate)
    }

    func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(MediaError) -> DecodedRun {
        try frames.read(into: buffer)
    }

    func seek(toFrame frame: Int64) throws(MediaError) { frames.seek(toFrame: frame) }
}
