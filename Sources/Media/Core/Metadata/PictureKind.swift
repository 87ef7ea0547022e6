/// The format of a picture, by its first bytes. A name or an announced type proves nothing.
public enum PictureKind: Sendable {
    case jpeg, png, webp, jpegXL

    /// The bytes that `init` needs.
    public static let beginning = 12

    /// - Parameter start: the first bytes of a file, `beginning` of them if it has so many.
    /// - Returns: nil when they are not those of a picture.
    public init?(_ start: [UInt8]) {
        if start.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if start.starts(with: [0x89, 0x50, 0x4E, 0x47]) {
            self = .png
        } else if start.starts(with: "RIFF".utf8), start.dropFirst(8).starts(with: "WEBP".utf8) {
            self = .webp
        } else if start.starts(with: [0xFF, 0x0A])
            || start.starts(with: [0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20])
        {
            self = .jpegXL
        } else {
            return nil
        }
    }

    public var mediaType: String {
        switch self {
        case .jpeg: "image/jpeg"
        case .png: "image/png"
        case .webp: "image/webp"
        case .jpegXL: "image/jxl"
        }
    }
}
