/// A small form of a picture, as a JPEG file.
public struct Thumbnail: Equatable, Sendable {
    /// In pixels.
    public let width: Int
    public let height: Int
    /// The JPEG file, without metadata.
    public let bytes: [UInt8]

    /// The quality of its JPEG file, 1 to 100.
    static let quality: Int32 = 82
    /// The most pixels of a picture. A board decodes so many in about 4 s.
    static let mostPixels = 100_000_000
    /// The most pixels of a picture's side: what JPEG can have.
    static let longestSide = 65_535

    /// Has libjpeg-turbo look at the processor, for which it opens files. To be called before that is forbidden.
    public static func prepare() {
        let bitmap = Bitmap(width: 1, height: 1, pixels: [0, 0, 0])
        let request = ThumbnailRequest(longestSide: 1, memory: .max)
        guard let file = try? encodeJPEG(bitmap, quality: quality) else { return }
        _ = try? Bitmap(decoding: file, for: request)
    }

    /// Makes a thumbnail of a JPEG, PNG or WebP file; of an animation, its first frame.
    ///
    /// The picture is turned as its EXIF orientation says. Transparent pixels are put on white.
    /// - Parameters:
    ///   - longestSide: the maximum number of pixels of the longer side, 1 to 640. A smaller picture is not enlarged.
    ///   - memory: the bytes that may be allocated beside `file`.
    public init(of file: [UInt8], longestSide: Int, memory: Int) throws(PictureError) {
        let request = ThumbnailRequest(longestSide: longestSide, memory: memory)
        let bitmap = try Bitmap(decoding: file, for: request)
        width = bitmap.width
        height = bitmap.height
        bytes = try encodeJPEG(bitmap, quality: Self.quality)
    }
}

extension Bitmap {
    /// Decodes a picture to the requested size, turned as it is to be seen.
    init(decoding file: [UInt8], for request: ThumbnailRequest) throws(PictureError) {
        guard let format = PictureFormat(of: file) else { throw .unknownFormat }
        let (stored, orientation) =
            switch format {
            case .jpeg: try decodeJPEG(file, for: request)
            case .png: try decodePNG(file, for: request)
            case .webP: try decodeWebP(file, for: request)
            }
        self = stored.turned(orientation)
    }
}

/// Why there is no thumbnail of a picture.
public enum PictureError: Error, Equatable {
    /// Not a JPEG, PNG or WebP file.
    case unknownFormat
    /// The picture is cut, or breaks the rules of its format.
    case damaged
    /// The picture has too many pixels, or needs too much memory.
    case tooLarge
}

/// The part of a request that the decoders need.
struct ThumbnailRequest {
    /// In pixels.
    var longestSide: Int
    /// In bytes.
    var memory: Int

    /// The size of the thumbnail of a picture.
    /// - Throws: `.tooLarge` for too many pixels.
    func size(of picture: PixelSize) throws(PictureError) -> PixelSize {
        guard picture.width > 0, picture.height > 0 else { throw .damaged }
        // The division comes first: the product need not fit into 32 bits.
        guard max(picture.width, picture.height) <= Thumbnail.longestSide,
            picture.width <= Thumbnail.mostPixels / picture.height
        else { throw .tooLarge }
        return picture.scaled(toLongestSide: longestSide)
    }

    /// - Parameter bytes: the bytes that the picture's decoder needs for pixels and coefficients.
    /// - Throws: `.tooLarge` when that exceeds the limit.
    func need(_ bytes: Int64) throws(PictureError) {
        if bytes > Int64(memory) - Self.otherBytes { throw .tooLarge }
    }

    /// For tables of the decoders, and for the thumbnail as pixels and as a file.
    private static let otherBytes: Int64 = 4 << 20
}

/// A width and a height in pixels.
struct PixelSize: Equatable {
    var width: Int
    var height: Int

    var count: Int { width * height }

    /// The largest size of the same shape whose longer side has at most so many pixels; never a larger one.
    func scaled(toLongestSide side: Int) -> PixelSize {
        let longest = max(width, height)
        guard longest > side else { return self }
        func scaled(_ length: Int) -> Int {
            max(1, Int((Int64(length) * Int64(side) * 2 + Int64(longest)) / (Int64(longest) * 2)))
        }
        return PixelSize(width: scaled(width), height: scaled(height))
    }
}
