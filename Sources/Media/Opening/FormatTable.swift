import Platform

/// All formats and codecs that are played, a row each: what finds, names, serves and opens files reads this table.
///
///     FormatTable.all.format(of: .wavpack)?.mediaTypes[0]         // audio/x-wavpack
///     FormatTable.all.codec(number: 1)                            // .alac
///
/// A new format is a folder beside the others and its row here (docs/decisions/a-format-is-a-row.md).
package struct FormatTable: Sendable {
    package let formats: [AudioFormat]
    let codecs: [CodecRow]

    init(formats: [AudioFormat], codecs: [CodecRow]) {
        self.formats = formats
        self.codecs = codecs
    }

    package static let all = FormatTable(
        formats: [.flac, .wav, .aiff, .mp4, .adts, .mp3, .ogg, .wavpack, .dsf, .dff, .matroska],
        codecs: CodecRow.all)

    /// The row of a container.
    package func format(of container: AudioProperties.Container) -> AudioFormat? {
        for format in formats where format.container == container { return format }
        return nil
    }

    /// The row whose files begin like these bytes.
    func format(beginning head: [UInt8]) -> AudioFormat? {
        for format in formats where format.begins(head) { return format }
        return nil
    }

    /// The container with a number of the library.
    package func container(number: Int) -> AudioProperties.Container? {
        for format in formats where Int(format.container.number) == number { return format.container }
        return nil
    }

    /// The codec with a number of the library.
    package func codec(number: Int) -> AudioProperties.Codec? {
        for row in codecs where Int(row.codec.number) == number { return row.codec }
        return nil
    }

    /// The endings of the names of files of some containers, in lower case, without the dot.
    package func suffixes(of isChosen: (AudioProperties.Container) -> Bool = { _ in true }) -> [String] {
        var suffixes: [String] = []
        for format in formats where isChosen(format.container) { suffixes += format.suffixes.map { $0.text } }
        return suffixes
    }

    /// The formats for people, as they know them: "FLAC, ALAC, WAV".
    var labels: String {
        var text = ""
        for row in codecs {
            guard let label = row.label else { continue }
            if !text.isEmpty { text += ", " }
            text += label.text
        }
        return text
    }
}
