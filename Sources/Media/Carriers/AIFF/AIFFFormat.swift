extension AudioProperties.Container {
    public static var aiff: Self { Self(2, "aiff", mediaType: "audio/aiff") }
}

extension AudioFormat {
    static let aiff = AudioFormat(
        .aiff, suffixes: ["aif", "aiff", "aifc"], mediaTypes: ["audio/aiff", "audio/x-aiff"],
        begins: { head in head.has("FORM") && (head.has("AIFF", at: 8) || head.has("AIFC", at: 8)) }
    ) { input throws(Interruption) in
        let container = try AIFFContainer(input.source, tags: input.tags, base: input.start)
        return container.packets.decoder(container.track, input.steps)
    } encodedBytes: { input throws(Interruption) in
        input.chunk(try AIFFHeader(input.source).data)
    }
}
