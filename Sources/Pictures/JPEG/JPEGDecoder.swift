import CTurboJPEG

/// A decoder of libjpeg-turbo.
///
/// Thread: one at a time.
private struct JPEGDecoder: ~Copyable {
    private let handle: tjhandle

    init() throws(PictureError) {
        guard let handle = tjInitDecompress() else { throw .tooLarge }
        self.handle = handle
    }

    deinit { tjDestroy(handle) }

    /// Decodes to the size of `bitmap`, which the header's size divided by 1, 2, 4 or 8 is.
    /// - Parameter format: `TJPF_RGB`, or `TJPF_CMYK` for four components.
    func decode(_ file: [UInt8], to size: PixelSize, _ format: TJPF) throws(PictureError) -> [UInt8] {
        let bytes = format == TJPF_CMYK ? 4 : 3
        var pixels = [UInt8](repeating: 255, count: size.count * bytes)
        let result = file.withUnsafeBufferPointer { file in
            pixels.withUnsafeMutableBufferPointer { pixels in
                tjDecompress2(
                    handle, file.baseAddress, UInt(file.count), pixels.baseAddress, Int32(size.width),
                    Int32(size.width * bytes), Int32(size.height), Int32(bitPattern: UInt32(format.rawValue)),
                    TJFLAG_LIMITSCANS)
            }
        }
        // A warning is a small fault that browsers ignore, too.
        if result != 0, tjGetErrorCode(handle) != Int32(TJERR_WARNING.rawValue) { throw .damaged }
        return pixels
    }
}

/// Decodes a JPEG file to the requested size, by scaling the inverse DCT first.
/// - Throws: `.damaged`, `.tooLarge`.
func decodeJPEG(_ file: [UInt8], for request: ThumbnailRequest) throws(PictureError) -> (Bitmap, Orientation) {
    let header = try JPEGHeader(file)
    let target = try request.size(of: header.size)
    let decoded = scaledByDecoder(header.size, atLeast: target)
    let isCMYK = header.componentCount == 4
    let coefficients = header.isBuffered ? header.coefficientBytes : 0
    try request.need(coefficients + Int64(decoded.count) * (isCMYK ? 7 : 3) + Int64(header.size.width) * 256)
    var pixels = try JPEGDecoder().decode(file, to: decoded, isCMYK ? TJPF_CMYK : TJPF_RGB)
    if isCMYK { pixels = rgb(ofCMYK: pixels) }
    var scaler = AreaScaler(from: decoded, to: target)
    pixels.withUnsafeBufferPointer { pixels in
        for y in 0..<decoded.height {
            let start = y * decoded.width * 3
            scaler.add(UnsafeBufferPointer(rebasing: pixels[start..<start + decoded.width * 3]))
        }
    }
    return (scaler.bitmap, header.orientation)
}

/// The smallest size that the decoder scales to and that is not smaller than the target.
private func scaledByDecoder(_ size: PixelSize, atLeast target: PixelSize) -> PixelSize {
    var scaled = size
    for divisor in [2, 4, 8] {
        let next = PixelSize(
            width: (size.width + divisor - 1) / divisor, height: (size.height + divisor - 1) / divisor)
        guard next.width >= target.width, next.height >= target.height else { break }
        scaled = next
    }
    return scaled
}

/// The pixels of a file with cyan, magenta, yellow and black. Adobe's programs store them inverted; other programs that
/// write such files do the same.
private func rgb(ofCMYK pixels: [UInt8]) -> [UInt8] {
    var converted: [UInt8] = []
    converted.reserveCapacity(pixels.count / 4 * 3)
    for index in stride(from: 0, to: pixels.count - 3, by: 4) {
        let black = Int(pixels[index + 3])
        for component in 0..<3 { converted.append(UInt8((Int(pixels[index + component]) * black + 127) / 255)) }
    }
    return converted
}
