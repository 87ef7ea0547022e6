extension AudioProperties.Container {
    public static var matroska: Self { Self(10, "matroska", mediaType: "audio/x-matroska") }
}

extension AudioFormat {
    /// Matroska and WebM.
    static let matroska = AudioFormat(
        .matroska, suffixes: ["mka", "weba", "webm", "mkv"], mediaTypes: ["audio/x-matroska", "audio/webm"],
        begins: { $0.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) }
    ) { input throws(Interruption) in
        try MatroskaContainer(input.source, tags: input.tags, base: input.start).decoder(input.steps)
    } encodedBytes: { input throws(Interruption) in
        // Tags may lie after the last cluster.
        let first = input.start + (try MatroskaSegment(input.source).firstCluster)
        var found = input.bytes(from: first, to: first + 3 * EncodedBytes.sampleSize)
        found.frameCount = input.properties.frameCount ?? 0
        return found
    }
}
