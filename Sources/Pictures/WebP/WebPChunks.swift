/// The chunks of a WebP file (RFC 9649): the picture, or the first one of an animation, and its orientation.
struct WebPChunks {
    /// The bytes for the decoder: the whole file, or the content of an animation's first frame.
    private(set) var picture: ArraySlice<UInt8>
    /// Upright without a chunk that says another one.
    private(set) var orientation = Orientation.upright

    /// The codes of chunks: ANMF, EXIF.
    private static let frame: [UInt8] = [0x41, 0x4E, 0x4D, 0x46]
    private static let exif: [UInt8] = [0x45, 0x58, 0x49, 0x46]
    /// RIFF, and WEBP after the length.
    private static let riff: [UInt8] = [0x52, 0x49, 0x46, 0x46]
    private static let webP: [UInt8] = [0x57, 0x45, 0x42, 0x50]
    /// The bytes of a frame before its chunks.
    private static let frameHeader = 16

    /// nil when the file does not begin like one of WebP.
    init?(_ file: [UInt8]) {
        guard file.count >= 12, file[0..<4].elementsEqual(Self.riff), file[8..<12].elementsEqual(Self.webP)
        else { return nil }
        picture = file[...]
        var (offset, hasFrame) = (12, false)
        while offset + 8 <= file.count {
            let length = file[offset + 4..<offset + 8].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            guard length <= UInt32(file.count - offset - 8) else { break }
            let content = file[offset + 8..<offset + 8 + Int(length)]
            let code = file[offset..<offset + 4]
            if code.elementsEqual(Self.frame), !hasFrame {
                hasFrame = true
                picture = content.dropFirst(Self.frameHeader)
            } else if code.elementsEqual(Self.exif) {
                orientation = Exif(content).orientation
            }
            // Chunks begin at even offsets.
            offset = content.endIndex + Int(length & 1)
        }
    }
}
