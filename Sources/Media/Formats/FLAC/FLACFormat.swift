extension AudioProperties.Container {
    public static var flac: Self { Self(0, "flac", mediaType: "audio/flac") }
}

extension AudioProperties.Codec {
    public static var flac: Self { Self(0, "flac", .lossless) }
}

extension AudioFormat {
    static let flac = AudioFormat(
        .flac, suffixes: ["flac", "fla"], mediaTypes: ["audio/flac", "audio/x-flac"], begins: { $0.has("fLaC") }
    ) { input throws(Interruption) in
        let container = try FLACContainer(input.source, steps: input.steps, tags: input.tags, base: input.start)
        return TrackDecoder(container.track, container, try FLACStreamCodec(container), input.steps)
    } encodedBytes: { input throws(Interruption) in
        let marker = try FLACSearch.start(in: input.file, from: input.start)?.offset ?? input.start
        let hasHeader = try SourceReader(input.file).bytes(4, at: marker) == FLACHeader.marker
        return try input.bytesUntilTags(from: hasHeader ? FLACBlocks(input.file, at: marker + 4).audioOffset : marker)
    }
}
