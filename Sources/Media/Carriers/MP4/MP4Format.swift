extension AudioProperties.Container {
    public static var mp4: Self { Self(3, "mp4", mediaType: "audio/mp4") }
}

extension AudioFormat {
    /// ISO base media, with QuickTime.
    static let mp4 = AudioFormat(
        .mp4, suffixes: ["m4a", "m4b", "mp4"], mediaTypes: ["audio/mp4", "audio/x-m4a"], begins: MP4Container.begins
    ) { input throws(Interruption) in
        try MP4Container(input.source, tags: input.tags, base: input.start).decoder(input.steps, input.licenses)
    } encodedBytes: { input throws(Interruption) in
        var boxes = MP4Boxes(input.file, from: input.start, to: input.end)
        while let box = try boxes.next() {
            if box.type == "mdat", !box.content.isEmpty { return EncodedBytes(range: box.content) }
            // Fragments: the boxes between them do not change with the tags.
            if box.type == "moof" { return input.bytes(from: box.offset) }
        }
        return nil
    }
}

extension MP4Container {
    fileprivate static func begins(_ head: [UInt8]) -> Bool {
        if head.has("ftyp", at: 4) { return !isPicture(head) }
        // Old files of QuickTime begin without a type.
        return head.has("moov", at: 4) || head.has("styp", at: 4) || head.has("mdat", at: 4)
            || head.has("wide", at: 4) && head.has("mdat", at: 12)
    }

    /// The brands of still pictures (ISO/IEC 23008-12).
    private static func isPicture(_ head: [UInt8]) -> Bool {
        head.has("avif", at: 8) || head.has("heic", at: 8) || head.has("heix", at: 8) || head.has("mif1", at: 8)
    }
}
