import PictureTestSupport
import TestSupport
import Testing

@testable import Pictures

@Suite("Decoding pictures", .enabled(if: EncodedPicture.canBeMade, "python3-pil is missing: run tools/setup"))
struct DecodingTests {
    private static let request = ThumbnailRequest(longestSide: EncodedPicture.longestSide, memory: 60 << 20)

    /// The mean and the largest difference of two bitmaps, in steps.
    private func difference(_ bitmap: Bitmap, _ picture: EncodedPicture) -> (mean: Double, most: Int) {
        guard bitmap.pixels.count == picture.pixels.count else { return (255, 255) }
        let all = zip(bitmap.pixels, picture.pixels).map { abs(Int($0) - Int($1)) }
        return (Double(all.reduce(0, +)) / Double(all.count), all.max() ?? 0)
    }

    @Test("shows JPEG, PNG and WebP as other decoders do")
    func pixels() throws {
        let pictures = try EncodedPicture.all()
        #expect(pictures.count == 38)
        for picture in pictures.values.sorted(by: { $0.name < $1.name }) {
            let bitmap = try Bitmap(decoding: picture.file, for: Self.request)
            #expect((bitmap.width, bitmap.height) == (picture.width, picture.height), "\(picture)")
            let (mean, most) = difference(bitmap, picture)
            if picture.name.hasPrefix("png") {
                // Pillow cuts the lower half of 16 bits, libpng rounds.
                #expect(most <= (picture.name == "png-rgb-16" ? 2 : 1), "\(picture): \(mean), \(most)")
            } else {
                // Means of blocks of the DCT. The only block across the thin one reaches beyond the picture.
                #expect(mean < (picture.name == "jpeg-thin" ? 5 : 1.5), "\(picture): \(mean), \(most)")
            }
        }
    }

    @Test("makes a JPEG of the thumbnail, without metadata", arguments: [64, 160, 320, 640])
    func thumbnail(side: Int) throws {
        let picture = try EncodedPicture.named("jpeg-turned-6")
        let thumbnail = try Thumbnail(of: picture.file, longestSide: side, memory: 60 << 20)
        #expect(max(thumbnail.width, thumbnail.height) == side)
        #expect(thumbnail.height > thumbnail.width)
        let header = try JPEGHeader(thumbnail.bytes)
        #expect(header.size == PixelSize(width: thumbnail.width, height: thumbnail.height))
        #expect(header.orientation == .upright)
        #expect(!thumbnail.bytes.containsPart("Exif"))
        // The quality costs little.
        if side == EncodedPicture.longestSide {
            let shown = try Bitmap(decoding: thumbnail.bytes, for: Self.request)
            #expect(difference(shown, picture).mean < 5)
        }
    }

    @Test("does not enlarge a picture", arguments: ["jpeg-small", "png-small", "webp-small", "jpeg-one-pixel"])
    func smallPictures(name: String) throws {
        let picture = try EncodedPicture.named(name)
        for side in [160, 640] {
            let thumbnail = try Thumbnail(of: picture.file, longestSide: side, memory: 60 << 20)
            #expect((thumbnail.width, thumbnail.height) == (picture.width, picture.height))
        }
    }

    @Test(
        "refuses pictures that are cut", arguments: ["jpeg-sampling-2", "jpeg-progressive", "png-rgba", "webp-lossy"])
    func cutPictures(name: String) throws {
        let file = try EncodedPicture.named(name).file
        for count in [12, 30, 200, file.count / 4, file.count / 2, file.count * 9 / 10] {
            #expect(throws: PictureError.damaged, "\(count) bytes") {
                try Bitmap(decoding: [UInt8](file.prefix(count)), for: Self.request)
            }
        }
    }

    @Test("refuses files of other formats")
    func otherFormats() throws {
        let texts = ["", "GIF89a", "BM", "RIFF\u{1}\u{1}\u{1}\u{1}WAVE", "<svg/>"].map { Array($0.utf8) }
        for file in texts + [[0xFF, 0xD8], [0x89, 0x50, 0x4E, 0x47]] {
            #expect(throws: PictureError.unknownFormat) { try Bitmap(decoding: file, for: Self.request) }
        }
    }

    @Test(
        "refuses a picture that needs more memory than there is, before it is allocated",
        arguments: [("jpeg-large-progressive", 56), ("png-interlaced", 6), ("webp-lossless", 6)])
    func memory(name: String, enough: Int) throws {
        let file = try EncodedPicture.named(name).file
        func decode(_ megabytes: Int) throws(PictureError) {
            _ = try Bitmap(decoding: file, for: ThumbnailRequest(longestSide: 160, memory: megabytes << 20))
        }
        try decode(enough + 1)
        #expect(throws: PictureError.tooLarge) { try decode(enough - 1) }
    }

    @Test("refuses a picture whose header says that it is huge")
    func hugePictures() throws {
        var jpeg = try EncodedPicture.named("jpeg-sampling-0").file
        let frame = try #require(jpeg.firstIndexOfPart([0xFF, 0xC0]))
        jpeg.replaceSubrange(frame + 5..<frame + 9, with: [0xFF, 0xFF, 0xFF, 0xFF])
        #expect(throws: PictureError.tooLarge) { try Bitmap(decoding: jpeg, for: Self.request) }
        // libpng looks at checksums later than at the size.
        let png = PNGStart.file(width: 0x7FFF_FFFF, height: 0x7FFF_FFFF)
        #expect(throws: PictureError.self) { try Bitmap(decoding: png, for: Self.request) }
        let wide = PNGStart.file(width: 60_000, height: 60_000)
        #expect(throws: PictureError.tooLarge) { try Bitmap(decoding: wide, for: Self.request) }
        var webP = try EncodedPicture.named("webp-lossless").file
        // The header of VP8L: 14 bits of the width and of the height, both less 1.
        webP.replaceSubrange(21..<25, with: [0xFF, 0xFF, 0xFF, 0x0F])
        #expect(throws: PictureError.tooLarge) { try Bitmap(decoding: webP, for: Self.request) }
    }
}

extension [UInt8] {
    func firstIndexOfPart(_ part: [UInt8]) -> Int? {
        indices.first { self[$0...].starts(with: part) }
    }

    func containsPart(_ text: String) -> Bool { firstIndexOfPart(Array(text.utf8)) != nil }
}
