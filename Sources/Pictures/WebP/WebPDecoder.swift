import CWebP

/// Decodes a WebP file to the requested size.
/// - Throws: `.damaged`, `.tooLarge`.
func decodeWebP(_ file: [UInt8], for request: ThumbnailRequest) throws(PictureError) -> (Bitmap, Orientation) {
    guard let chunks = WebPChunks(file) else { throw .unknownFormat }
    // A throwing closure would have to be `rethrows` with a type: the error is a value.
    let result: Result<Bitmap, PictureError> = chunks.picture.withUnsafeBufferPointer { picture in
        do throws(PictureError) { return .success(try decodeWebP(picture, for: request)) } catch {
            return .failure(error)
        }
    }
    return (try result.get(), chunks.orientation)
}

private func decodeWebP(_ picture: UnsafeBufferPointer<UInt8>, for request: ThumbnailRequest) throws(PictureError)
    -> Bitmap
{
    var configuration = WebPDecoderConfig()
    guard WebPInitDecoderConfig(&configuration) != 0,
        WebPGetFeatures(picture.baseAddress, picture.count, &configuration.input) == VP8_STATUS_OK
    else { throw .damaged }
    let features = configuration.input
    let size = PixelSize(width: Int(features.width), height: Int(features.height))
    let target = try request.size(of: size)
    // The decoder stores the pixels of a lossless picture, and the opacity of another one.
    let isLossless = features.format == 2
    let storedBytes = isLossless ? 4 : features.has_alpha != 0 ? 2 : 0
    try request.need(Int64(size.count) * Int64(storedBytes) + Int64(size.width) * 256)
    var pixels = [UInt8](repeating: 0, count: target.count * 4)
    if target != size {
        configuration.options.use_scaling = 1
        configuration.options.scaled_width = Int32(target.width)
        configuration.options.scaled_height = Int32(target.height)
    }
    let status = pixels.withUnsafeMutableBufferPointer { pixels in
        // With the colours of each pixel multiplied by its opacity.
        configuration.output.colorspace = MODE_rgbA
        configuration.output.is_external_memory = 1
        configuration.output.u.RGBA = WebPRGBABuffer(
            rgba: pixels.baseAddress, stride: Int32(target.width * 4), size: pixels.count)
        return WebPDecode(picture.baseAddress, picture.count, &configuration)
    }
    WebPFreeDecBuffer(&configuration.output)
    guard status != VP8_STATUS_OUT_OF_MEMORY else { throw .tooLarge }
    guard status == VP8_STATUS_OK else { throw .damaged }
    return Bitmap(width: target.width, height: target.height, pixels: onWhite(pixels))
}

/// The pixels as they are seen before white.
private func onWhite(_ pixels: [UInt8]) -> [UInt8] {
    var seen: [UInt8] = []
    seen.reserveCapacity(pixels.count / 4 * 3)
    for index in stride(from: 0, to: pixels.count - 3, by: 4) {
        let white = 255 - Int(pixels[index + 3])
        for component in 0..<3 { seen.append(UInt8(min(Int(pixels[index + component]) + white, 255))) }
    }
    return seen
}
