import CPNG

/// A picture that libpng decodes row by row.
///
/// Thread: one at a time. The bytes outlive it.
private struct PNGDecoder: ~Copyable {
    /// Has its address in libpng, so it may not move.
    private let reader: UnsafeMutablePointer<tonearm_png>

    init(_ file: UnsafeBufferPointer<UInt8>) throws(PictureError) {
        let reader = UnsafeMutablePointer<tonearm_png>.allocate(capacity: 1)
        self.reader = reader
        // The deinit closes it.
        if tonearm_png_open(reader, file.baseAddress, file.count) != 0 { throw .damaged }
    }

    deinit {
        tonearm_png_close(reader)
        reader.deallocate()
    }

    /// Sides beyond 31 bits are refused by libpng.
    var size: PixelSize { PixelSize(width: Int(reader.pointee.width), height: Int(reader.pointee.height)) }
    /// 3 or 4, after `start`.
    var channels: Int { Int(reader.pointee.channels) }
    var isInterlaced: Bool { reader.pointee.passes > 1 }
    var passes: Int { Int(reader.pointee.passes) }

    func start() throws(PictureError) { if tonearm_png_start(reader) != 0 { throw .damaged } }

    /// Decodes the next row into `row`.
    func next(_ row: UnsafeMutablePointer<UInt8>) throws(PictureError) {
        if tonearm_png_row(reader, row) != 0 { throw .damaged }
    }
}

/// Decodes a PNG file to the requested size.
/// - Throws: `.damaged`, `.tooLarge`.
func decodePNG(_ file: [UInt8], for request: ThumbnailRequest) throws(PictureError) -> (Bitmap, Orientation) {
    // The closure returns the error as a value, because it cannot rethrow a typed error.
    let result: Result<Bitmap, PictureError> = file.withUnsafeBufferPointer { file in
        do throws(PictureError) { return .success(try decodePNG(file, for: request)) } catch { return .failure(error) }
    }
    return (try result.get(), PNGChunks(file).orientation)
}

private func decodePNG(_ file: UnsafeBufferPointer<UInt8>, for request: ThumbnailRequest) throws(PictureError) -> Bitmap
{
    let decoder = try PNGDecoder(file)
    let size = decoder.size
    let target = try request.size(of: size)
    let stored = decoder.isInterlaced ? size.height : 1
    // libpng has some rows of its own, of up to 8 bytes a pixel.
    try request.need(Int64(size.width) * 4 * (Int64(stored) + 8))
    try decoder.start()
    let rowBytes = size.width * decoder.channels
    // The rows of a picture, all of them when it is interlaced.
    let rows = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: rowBytes * stored)
    defer { rows.deallocate() }
    guard let start = rows.baseAddress else { throw .tooLarge }
    rows.initialize(repeating: 255)
    for _ in 1..<decoder.passes {
        for y in 0..<size.height { try decoder.next(start + y * rowBytes) }
    }
    var scaler = AreaScaler(from: size, to: target)
    for y in 0..<size.height {
        let row = UnsafeMutableBufferPointer(start: start + (stored == 1 ? 0 : y * rowBytes), count: rowBytes)
        try decoder.next(start + (stored == 1 ? 0 : y * rowBytes))
        if decoder.channels == 4 { putOnWhite(row) }
        scaler.add(UnsafeBufferPointer(row))
    }
    return scaler.bitmap
}

/// Replaces pixels of red, green, blue and opacity by their colours on a white background. The result has three bytes
/// for each pixel, from the start of the row.
private func putOnWhite(_ row: UnsafeMutableBufferPointer<UInt8>) {
    var to = 0
    for from in stride(from: 0, to: row.count - 3, by: 4) {
        let opacity = Int(row[from + 3])
        let white = 255 * (255 - opacity) + 127
        for component in 0..<3 {
            row[to + component] = UInt8((Int(row[from + component]) * opacity + white) / 255)
        }
        to += 3
    }
}
