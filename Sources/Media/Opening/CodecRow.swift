import Platform

/// A row of the `FormatTable`: a codec, and the names by which people and manifests know it.
final class CodecRow: Sendable {
    let codec: AudioProperties.Codec
    /// For messages; nil for one that people call by another's name.
    let label: StaticString?
    /// The names in manifests (RFC 6381, 3.3), in lower case.
    let names: [StaticString]
    /// Whether fields may follow a name after a point.
    let hasFields: Bool
    /// Whether a codec whose name has these fields can be decoded; nil where `names` decide it.
    let isDecoded: (@Sendable ([Substring.UTF8View]) -> Bool)?

    init(
        _ codec: AudioProperties.Codec, label: StaticString? = nil, names: [StaticString] = [],
        hasFields: Bool = false, isDecoded: (@Sendable ([Substring.UTF8View]) -> Bool)? = nil
    ) {
        self.codec = codec
        self.label = label
        self.names = names
        self.hasFields = hasFields
        self.isDecoded = isDecoded
    }

    /// Whether the row has a name.
    /// - Parameters:
    ///   - name: in lower case.
    ///   - fields: its parts between points.
    func has(_ name: String, _ fields: [Substring.UTF8View]) -> Bool {
        for known in names {
            let isKnown = known.withUTF8Buffer { known in
                name.utf8.elementsEqual(known) || hasFields && fields.first?.elementsEqual(known) == true
            }
            if isKnown { return true }
        }
        return isDecoded?(fields) ?? false
    }

    static let all: [CodecRow] = {
        var rows = [
            CodecRow(.flac, label: "FLAC", names: ["flac"], hasFields: true),
            CodecRow(.alac, label: "ALAC", names: ["alac"]),
            CodecRow(.pcm, label: "WAV, AIFF", names: ["ipcm", "fpcm"]),
            CodecRow(.wavpack, label: "WavPack"),
            CodecRow(.dsd, label: "DSD"),
            // Playlists of HLS call packed MP3 `mp4a.40.34`.
            CodecRow(.mp3, label: "MP3", names: ["mp3", "mp4a.69", "mp4a.6b", "mp4a.40.34"]),
            CodecRow(.vorbis, label: "Vorbis"),
            CodecRow(.opus, label: "Opus", names: ["opus"]),
        ]
        #if AAC
            rows.append(CodecRow(.aac, label: "AAC", isDecoded: AudioSpecificConfig.isDecoded))
        #else
            rows.append(CodecRow(.aac))
        #endif
        return rows + [CodecRow(.mp2), CodecRow(.alaw), CodecRow(.ulaw), CodecRow(.wavpackLossy)]
    }()
}
