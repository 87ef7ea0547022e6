extension AudioProperties.Container {
    public static var dsf: Self { Self(8, "dsf", mediaType: "audio/x-dsf") }
    public static var dff: Self { Self(9, "dff", mediaType: "audio/x-dff") }
}

extension AudioProperties.Codec {
    public static var dsd: Self { Self(11, "dsd", .lossless) }
}

extension AudioFormat {
    static let dsf = AudioFormat(
        .dsf, suffixes: ["dsf"], mediaTypes: ["audio/x-dsf", "audio/x-dsd"], begins: { $0.has("DSD ") }
    ) { input throws(Interruption) in
        let container = try DSFContainer(input.source, tags: input.tags, base: input.start)
        return TrackDecoder(container.track, words: container.words, container.packets, input.steps)
    } encodedBytes: { input throws(Interruption) in
        var head = ByteReader(try SourceReader(input.source).bytes(28, at: 0))
        head.skip(20)
        let tags = Int64(clamping: head.littleEndian(UInt64.self) ?? 0)
        return input.bytes(from: input.start + 28, to: tags > 28 ? tags : nil)
    }

    static let dff = AudioFormat(
        .dff, suffixes: ["dff"], mediaTypes: ["audio/x-dff"],
        begins: { head in head.has("FRM8") && head.has("DSD ", at: 12) }
    ) { input throws(Interruption) in
        let container = try DFFContainer(input.source, tags: input.tags, base: input.start)
        return TrackDecoder(container.track, words: container.words, container.packets, input.steps)
    } encodedBytes: { input throws(Interruption) in
        try DFFContainer.samples(in: input.source, input.start, input.end)
    }
}

extension DFFContainer {
    /// DSDIFF 1.5: chunks with sizes of 64 bits.
    fileprivate static func samples(
        in source: any ByteSource, _ base: Int64, _ end: Int64
    ) throws(Interruption) -> EncodedBytes? {
        var offset: Int64 = 16
        for _ in 0..<4096 where base + offset < end {
            var head = ByteReader(try SourceReader(source).bytes(12, at: offset))
            guard let name = head.code(), let size = head.bigEndian(UInt64.self), size < UInt64(AudioLimits.largestData)
            else { return nil }
            let content = base + offset + 12
            if name == "DSD " { return EncodedBytes(range: content..<max(content, min(end, content + Int64(size)))) }
            offset += 12 + Int64(size) + Int64(size) & 1
        }
        return nil
    }
}
