/// WAV with PCM: RIFF, RF64, BW64 and Wave64.
struct WAVContainer {
    let track: TrackDescription
    let packets: PCMPackets

    /// - Parameters:
    ///   - tags: those before the file; its own tags override them.
    ///   - base: where `source` begins in the file.
    init(_ source: any ByteSource, tags: TrackMetadata, base: Int64 = 0) throws(Interruption) {
        if Wave64Header.begins(try SourceReader(source).bytes(40, at: 0)) {
            let header = try Wave64Header(source)
            try self.init(source, header.format, header.data, tags)
        } else {
            let header = try WAVHeader(source)
            try self.init(source, header.format, header.data, tags.overridden(by: header.tags, at: base))
        }
    }

    private init(
        _ source: any ByteSource, _ format: WAVFormat?, _ data: (offset: Int64, byteCount: Int64?)?,
        _ tags: TrackMetadata
    ) throws(Interruption) {
        guard let format else { throw .damaged(what: "WAV without a format") }
        guard let data else { throw .damaged(what: "WAV without data") }
        packets = PCMPackets(
            source, layout: format.layout, channelCount: format.channelCount, sampleRate: format.sampleRate,
            dataOffset: data.offset, declaredBytes: data.byteCount)
        track = packets.track(in: .wav, tags)
    }
}
