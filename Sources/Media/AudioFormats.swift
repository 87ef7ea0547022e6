/// The formats that can be decoded, for messages and for finding files.
public enum AudioFormats {
    #if AAC
        /// The list for messages, after "Supported: ".
        public static let supported = "FLAC, ALAC, WAV, AIFF, WavPack, DSD, MP3, Vorbis, Opus, AAC"
    #else
        /// The list for messages, after "Supported: ".
        public static let supported = "FLAC, ALAC, WAV, AIFF, WavPack, DSD, MP3, Vorbis, Opus"
    #endif

    /// The endings of the names of files with audio, in lower case, without the dot. MP4 is one too: it may have FLAC.
    public static let fileNameEndings = [
        "flac", "fla", "wav", "wave", "rf64", "bw64", "w64", "aif", "aiff", "aifc", "m4a", "m4b", "mp4", "aac", "mp3",
        "mp2", "mpga", "ogg", "oga", "opus", "wv", "dsf", "dff", "mka", "weba", "webm", "mkv",
    ]

    /// Whether a codec can be decoded.
    /// - Parameter codec: as a manifest names it (RFC 6381, 3.3). An incomplete name (`mp4a`) counts as one that can be
    ///   decoded.
    public static func hasDecoder(for codec: String) -> Bool {
        let codec = TagText.lowercased(codec)
        for known in Self.whole where codec.utf8.elementsEqual(known.utf8) { return true }
        let fields = codec.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard let name = fields.first else { return false }
        if name.elementsEqual("flac".utf8) { return true }
        #if AAC
            guard name.elementsEqual("mp4a".utf8) else { return false }
            guard fields.count > 1 else { return true }
            // The object type in hexadecimal: AAC-LC of MPEG-2 (67), or MPEG-4 audio (40) with the audio object type in
            // decimal.
            if fields[1].elementsEqual("67".utf8) { return true }
            guard fields[1].elementsEqual("40".utf8) else { return false }
            guard fields.count > 2 else { return true }
            return XMLValue.integer(String(decoding: Array(fields[2]), as: UTF8.self))
                .flatMap { UInt32(exactly: $0) }.map(AudioSpecificConfig.ObjectType.isDecoded) ?? false
        #else
            return false
        #endif
    }

    /// Codecs that have one name. Playlists of HLS call packed MP3 `mp4a.40.34`.
    private static let whole = ["mp3", "alac", "opus", "ipcm", "fpcm", "mp4a.69", "mp4a.6b", "mp4a.40.34"]

    /// The format that is missing without the package trait, for messages.
    static let missingAAC = "AAC (this program was built without the package trait AAC)"
}
