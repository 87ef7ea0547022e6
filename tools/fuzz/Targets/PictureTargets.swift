import PictureRequests

@testable import Pictures

/// The wrappers of the decoders of pictures, and the packets between the daemon and tonearm-pictures.
let pictureTargets = [
    FuzzTarget("jpeg") { bytes in
        exercise { request throws(PictureError) in try decodeJPEG(bytes, for: request) }
    },
    FuzzTarget("png") { bytes in
        exercise { request throws(PictureError) in try decodePNG(bytes, for: request) }
    },
    FuzzTarget("webp") { bytes in
        exercise { request throws(PictureError) in try decodeWebP(bytes, for: request) }
    },
    FuzzTarget("picture-packets") { bytes in
        if let request = PictureRequest(bytes: bytes) { require(request.bytes == bytes, "another request") }
        if let answer = PictureAnswer(bytes: bytes) { require(answer.bytes == bytes, "another answer") }
    },
]

/// Decodes with little memory, and makes a JPEG file of the result.
private func exercise(_ decode: (ThumbnailRequest) throws(PictureError) -> (Bitmap, Orientation)) {
    let request = ThumbnailRequest(longestSide: 64, memory: 6 << 20)
    guard let (bitmap, orientation) = try? decode(request) else { return }
    require(bitmap.pixels.count == bitmap.width * bitmap.height * 3, "\(bitmap.pixels.count) bytes")
    require(max(bitmap.width, bitmap.height) <= request.longestSide, "\(bitmap.width) × \(bitmap.height)")
    let turned = bitmap.turned(orientation)
    require(turned.pixels.count == bitmap.pixels.count, "\(orientation)")
    require((try? encodeJPEG(turned, quality: 82)) != nil, "no thumbnail")
}
