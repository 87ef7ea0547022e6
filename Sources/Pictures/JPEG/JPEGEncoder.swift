import CTurboJPEG

/// An encoder of libjpeg-turbo.
///
/// Thread: one at a time.
private struct JPEGEncoder: ~Copyable {
    private let handle: tjhandle

    init() throws(PictureError) {
        guard let handle = tjInitCompress() else { throw .tooLarge }
        self.handle = handle
    }

    deinit { tjDestroy(handle) }

    /// - Parameter quality: 1 to 100.
    func encode(_ bitmap: Bitmap, quality: Int32) throws(PictureError) -> [UInt8] {
        let sampling = Int32(TJSAMP_420.rawValue)
        let most = tjBufSize(Int32(bitmap.width), Int32(bitmap.height), sampling)
        var result: Int32 = -1
        let file = [UInt8](unsafeUninitializedCapacity: Int(most)) { buffer, count in
            var start = buffer.baseAddress
            var size = most
            result = bitmap.pixels.withUnsafeBufferPointer { pixels in
                tjCompress2(
                    handle, pixels.baseAddress, Int32(bitmap.width), Int32(bitmap.width * 3), Int32(bitmap.height),
                    TJPF_RGB.rawValue, &start, &size, sampling, quality, TJFLAG_NOREALLOC)
            }
            count = result == 0 ? Int(size) : 0
        }
        guard result == 0 else { throw .tooLarge }
        return file
    }
}

/// - Parameter quality: 1 to 100.
/// - Throws: `.tooLarge` when memory is missing.
func encodeJPEG(_ bitmap: Bitmap, quality: Int32) throws(PictureError) -> [UInt8] {
    try JPEGEncoder().encode(bitmap, quality: quality)
}
