/// A row of the `FormatTable`: a kind of file, and all that differs between kinds before its samples are decoded.
///
/// A new format is a folder with its parser, and a row:
///
///     extension AudioFormat {
///         static let dsf = AudioFormat(
///             .dsf, suffixes: ["dsf"], mediaTypes: ["audio/x-dsf"], begins: { $0.has("DSD ") },
///             open: { … }, encodedBytes: { … })
///     }
package final class AudioFormat: Sendable {
    /// How many first bytes are checked.
    static let headSize = 512

    package let container: AudioProperties.Container
    /// The endings of the names of files, in lower case, without the dot. The usual one comes first.
    package let suffixes: [StaticString]
    /// Media types by which servers and players know it, in lower case.
    package let mediaTypes: [StaticString]
    /// Whether a file that begins with these bytes has this format.
    let begins: @Sendable (_ head: [UInt8]) -> Bool
    /// Reads the headers, and returns the decoder at the first frame.
    let open: @Sendable (FormatInput) throws(Interruption) -> any AudioDecoder
    /// Finds the encoded bytes, for `AudioIdentity`; nil: all bytes count.
    let encodedBytes: @Sendable (EncodedBytesInput) throws(Interruption) -> EncodedBytes?

    /// - Parameter begins: left out for a container without a signature, which `FormatRecognition` searches.
    init(
        _ container: AudioProperties.Container, suffixes: [StaticString], mediaTypes: [StaticString],
        begins: @escaping @Sendable (_ head: [UInt8]) -> Bool = { _ in false },
        open: @escaping @Sendable (FormatInput) throws(Interruption) -> any AudioDecoder,
        encodedBytes: @escaping @Sendable (EncodedBytesInput) throws(Interruption) -> EncodedBytes?
    ) {
        self.container = container
        self.suffixes = suffixes
        self.mediaTypes = mediaTypes
        self.begins = begins
        self.open = open
        self.encodedBytes = encodedBytes
    }
}

/// The input of `AudioFormat.open`.
struct FormatInput {
    /// The bytes from the beginning of the container on.
    let source: any ByteSource
    /// Where they begin in the file.
    let start: Int64
    /// The tags before the container, which its own tags override.
    let tags: TrackMetadata
    /// Through which `source` reads.
    let steps: StepSource
    /// For encrypted content.
    let licenses: (any LicenseProvider)?
}

/// The input of `AudioFormat.encodedBytes`.
struct EncodedBytesInput {
    /// The whole file.
    let file: any ByteSource
    /// Where the tags before the container end.
    let start: Int64
    /// The length of the file.
    let end: Int64
    let properties: AudioProperties

    /// The bytes from the container's beginning on.
    var source: any ByteSource { start > 0 ? SourceSlice(file, from: start) : file }

    /// The bytes between two offsets of the file, as far as it has them.
    func bytes(from first: Int64, to last: Int64? = nil) -> EncodedBytes {
        let last = min(last ?? end, end)
        return EncodedBytes(range: min(first, last)..<last)
    }

    /// The bytes of a chunk of the container.
    func chunk(_ data: (offset: Int64, byteCount: Int64?)?) -> EncodedBytes? {
        data.map { data in bytes(from: start + data.offset, to: data.byteCount.map { start + data.offset + $0 }) }
    }
}

/// The encoded bytes of a file.
struct EncodedBytes {
    /// How many bytes `AudioIdentity` reads at the beginning, in the middle and at the end.
    static let sampleSize: Int64 = 16_384

    var range: Range<Int64>
    /// Whether the bytes are pages of Ogg, whose headers change with the tags.
    var isOgg = false
    /// A length that stands for the number of bytes, when the end is not known.
    var frameCount: Int64?
}

extension [UInt8] {
    /// Whether these bytes have a text at an offset.
    func has(_ text: StaticString, at offset: Int = 0) -> Bool {
        count >= offset && text.withUTF8Buffer { self[offset...].starts(with: $0) }
    }
}
