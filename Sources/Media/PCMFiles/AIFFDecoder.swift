/// AIFF and AIFF-C with integer PCM.
final class AIFFDecoder: AudioDecoder {
    let properties: AudioProperties
    let metadata: TrackMetadata
    var damage: DamageReport { frames.damage }

    private let frames: PCMFrameReader

    init(_ source: any ByteSource, tags: TrackMetadata) throws(MediaError) {
        let header = try AIFFHeader(source)
        guard let common = header.common else { throw .damaged(what: "AIFF without a COMM chunk") }
        guard let data = header.data else { throw .damaged(what: "AIFF without sound data") }
        frames = PCMFrameReader(
            source, layout: common.layout, channelCount: common.channelCount, sampleRate: common.sampleRate,
            dataOffset: data.offset, declaredBytes: data.byteCount, declaredFrames: common.frameCount)
        metadata = tags.overridden(by: header.tags)
        properties = AudioProperties(
            format: frames.format, frameCount: frames.frameCount, container: .aiff, codec: .pcm,
            bitRate: frames.bitRate)
    }

    func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(MediaError) -> DecodedRun {
        try frames.read(into: buffer)
    }

    func seek(toFrame frame: Int64) throws(MediaError) { frames.seek(toFrame: frame) }
}
