import Crypto
import Platform

/// Identifies a picture: by its file, the version of that file and the range in it, or by its bytes if it comes from
/// the network.
package struct PictureIdentity: Equatable, Sendable {
    let high: UInt64
    let low: UInt64

    /// - Parameter parts: the parts of the identity, without line ends.
    /// - Returns: nil if memory is missing.
    init?(of parts: [String]) {
        // Change the number when the program makes other thumbnails of the same pictures: then all are made again.
        let text = (["1"] + parts).joined(separator: "\n")
        guard let digest = try? SHA256.hash(Array(text.utf8)) else { return nil }
        func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        self.init(high: number(digest[..<8]), low: number(digest[8..<16]))
    }

    /// - Parameter digest: the digest of a picture from the network.
    init?(digest: [UInt8]) { self.init(of: ["network", hexadecimal(digest)]) }

    init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

    /// 32 digits.
    package var text: String {
        hexadecimal([high, low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } })
    }

    /// Reads the form of `text`; nil for a string in another form.
    init?(text: String) {
        guard text.utf8.count == 32, let bytes = Hexadecimal.bytes(text) else { return nil }
        func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        self.init(high: number(bytes[..<8]), low: number(bytes[8...]))
    }
}

/// Identifies a thumbnail by a picture and the maximum number of pixels of its longer side.
package struct ThumbnailKey: Equatable, Sendable {
    /// The sizes that clients may ask for.
    package static let sides = [64, 160, 320, 640]

    package let picture: PictureIdentity
    package let side: Int

    package init(picture: PictureIdentity, side: Int) { (self.picture, self.side) = (picture, side) }
}

/// A small picture: a whole JPEG.
package struct Thumbnail: Equatable, Sendable {
    /// In pixels.
    package let width: Int
    package let height: Int
    package let bytes: [UInt8]

    /// The most bytes of a thumbnail. One of 640 pixels has 60 kB.
    static let mostBytes = 1 << 20

    /// - Returns: nil for bytes that do not begin and end as a JPEG, or an impossible size.
    init?(width: Int, height: Int, bytes: [UInt8], side: Int) {
        guard 1...side ~= width, 1...side ~= height, 4...Self.mostBytes ~= bytes.count,
            bytes.starts(with: [0xFF, 0xD8]), bytes.suffix(2).elementsEqual([0xFF, 0xD9])
        else { return nil }
        (self.width, self.height, self.bytes) = (width, height, bytes)
    }

    /// A checksum that reveals a damaged file (FNV-1a).
    var check: UInt32 { bytes.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 } }
}

/// Why no thumbnail can be made of a picture. Another attempt would end in the same way.
package enum PictureRefusal: UInt8, Equatable, Sendable, CaseIterable {
    case unknownFormat, damaged, tooLarge

    /// The reason, as the continuation of "there is no small form of the cover".
    package var reason: String {
        switch self {
        case .unknownFormat: "it is not a JPEG, PNG or WebP"
        case .damaged: "it is damaged"
        case .tooLarge: "it is too large"
        }
    }
}
