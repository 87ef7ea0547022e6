extension AudioProperties.Container {
    public static var wav: Self { Self(1, "wav", mediaType: "audio/wav") }
}

extension AudioFormat {
    /// RIFF, RF64, BW64 and Wave64. One with frames of MPEG is opened as these.
    static let wav = AudioFormat(
        .wav, suffixes: ["wav", "wave", "rf64", "bw64", "w64"],
        mediaTypes: ["audio/wav", "audio/x-wav", "audio/vnd.wave"], begins: WAVContainer.begins
    ) { input throws(Interruption) in
        let container = try WAVContainer(input.source, tags: input.tags, base: input.start)
        return container.packets.decoder(container.track, input.steps)
    } encodedBytes: { input throws(Interruption) in
        let source = input.source
        let isWave64 = Wave64Header.begins(try SourceReader(source).bytes(40, at: 0))
        return input.chunk(isWave64 ? try Wave64Header(source).data : try WAVHeader(source).data)
    }
}

extension WAVContainer {
    fileprivate static func begins(_ head: [UInt8]) -> Bool {
        if head.has("RIFF") || head.has("RF64") || head.has("BW64") { return head.has("WAVE", at: 8) }
        return Wave64Header.begins(head)
    }
}
