/// AIFF and AIFF-C with PCM.
struct AIFFContainer {
    let track: TrackDescription
    let packets: PCMPackets

    /// - Parameters:
    ///   - tags: those before the file; its own tags override them.
    ///   - base: where `source` begins in the file.
    init(_ source: any ByteSource, tags: TrackMetadata, base: Int64 = 0) throws(Interruption) {
        let header = try AIFFHeader(source)
        guard let common = header.common else { throw .damaged(what: "AIFF without a COMM chunk") }
        guard let data = header.data else { throw .damaged(what: "AIFF without sound data") }
        packets = PCMPackets(
            source, layout: common.layout, channelCount: common.channelCount, sampleRate: common.sampleRate,
            dataOffset: data.offset, declaredBytes: data.byteCount, declaredFrames: common.frameCount)
        track = packets.track(in: .aiff, tags.overridden(by: header.tags, at: base))
    }
}
