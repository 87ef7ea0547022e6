/// The chunks of a PNG file, for its orientation; libpng reads the others (PNG 3rd edition, 5.3).
struct PNGChunks {
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    private static let exif: [UInt8] = [0x65, 0x58, 0x49, 0x66]

    /// Upright without a chunk that says another one.
    let orientation: Orientation

    init(_ file: [UInt8]) {
        var offset = Self.signature.count
        while offset + 12 <= file.count {
            let length = file[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            guard length <= UInt32(file.count - offset - 12) else { break }
            let content = offset + 8
            if file[offset + 4..<content].elementsEqual(Self.exif) {
                orientation = Exif(file[content..<content + Int(length)]).orientation
                return
            }
            offset = content + Int(length) + 4
        }
        orientation = .upright
    }
}
