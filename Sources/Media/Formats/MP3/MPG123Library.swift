import CMPG123
import Platform

/// A decoder of libmpg123 that is given one frame of MPEG audio at a time. Closing is its end; it cannot be copied.
///
/// Its own search for frames, tags, gaps and seeks are off: the container does all of that.
///
/// Thread: only the decoder thread.
struct MPG123Library: ~Copyable {
    private let handle: OpaquePointer

    /// ENOMEM of Linux.
    private static let outOfMemory = SystemError(code: 12, operation: "open a decoder of MP3")

    init() throws(Interruption) {
        guard let handle = mpg123_new(nil, nil) else {
            throw .source(.medium(Self.outOfMemory))
        }
        let flags =
            MPG123_QUIET.rawValue | MPG123_FORCE_FLOAT.rawValue | MPG123_NO_RESYNC.rawValue
            | MPG123_NO_READAHEAD.rawValue | MPG123_IGNORE_INFOFRAME.rawValue | MPG123_SKIP_ID3V2.rawValue
        // Replaces the flags that are on by default: gapless, resampling.
        let isSet =
            mpg123_param2(handle, Int32(MPG123_FLAGS.rawValue), Int(flags), 0) == 0
            && mpg123_param2(handle, Int32(MPG123_INDEX_SIZE.rawValue), 0, 0) == 0
            && mpg123_param2(handle, Int32(MPG123_RVA.rawValue), Int(MPG123_RVA_OFF.rawValue), 0) == 0
            && mpg123_format_none(handle) == 0
            && mpg123_format2(
                handle, 0, Int32(MPG123_MONO.rawValue | MPG123_STEREO.rawValue), Int32(MPG123_ENC_FLOAT_32.rawValue))
                == 0
        guard isSet else {
            mpg123_delete(handle)
            throw .unsupported(what: "MP3 with this version of libmpg123")
        }
        self.handle = handle
    }

    deinit { mpg123_delete(handle) }

    /// Drops the state that comes from earlier frames.
    /// - Parameter freeSize: the bytes of a frame of free format without padding.
    mutating func reset(freeSize: Int?) {
        let bodySize = freeSize.map { $0 - MPEGAudioHeader.size } ?? -1
        _ = mpg123_param2(handle, Int32(MPG123_FREEFORMAT_SIZE.rawValue), bodySize, 0)
        // A failure is reported when the next frame is decoded.
        _ = mpg123_open_feed(handle)
    }

    /// Decodes one frame of MPEG.
    /// - Returns: interleaved samples, valid until the next call; nil when the frame cannot be decoded.
    mutating func decode(_ frame: UnsafeRawBufferPointer) -> UnsafeBufferPointer<Float>? {
        guard let bytes = frame.bindMemory(to: UInt8.self).baseAddress,
            mpg123_feed(handle, bytes, frame.count) == MPG123_OK.rawValue
        else { return nil }
        let code = mpg123_framebyframe_next(handle)
        guard code == MPG123_OK.rawValue || code == MPG123_NEW_FORMAT.rawValue else { return nil }
        var output: UnsafeMutablePointer<UInt8>?
        var count = 0
        guard mpg123_framebyframe_decode(handle, nil, &output, &count) == MPG123_OK.rawValue, let output, count > 0
        else { return nil }
        let samples = UnsafeRawBufferPointer(start: output, count: count).bindMemory(to: Float.self)
        return samples
    }
}
