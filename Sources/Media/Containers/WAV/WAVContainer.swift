/// WAV with integer PCM: RIFF and RF64 (EBU Tech 3306).
struct WAVContainer {
    let track: TrackDescription
    let packets: PCMPackets

    init(_ source: any ByteSource, tags: TrackMetadata) throws(Interruption) {
        let header = try WAVHeader(source)
        guard let format = header.format else { throw .damaged(what: "WAV without a format") }
        guard let data = header.data else { throw .damaged(what: "WAV without data") }
        packets = PCMPackets(
            source, layout: format.layout, channelCount: format.channelCount, sampleRate: format.sampleRate,
            dataOffset: data.offset, declaredBytes: data.byteCount)
        track = packets.track(in: .wav, tags.overridden(by: header.tags))
    }
}
