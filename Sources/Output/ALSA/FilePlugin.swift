import CALSA
import CLinux
import Platform

/// Workarounds for alsa-lib's `file` plug-in.
enum FilePlugin {
    /// The error with which the file could not be created; nil when it is there or `handle` is not a `file` plug-in.
    /// Call it after the hardware parameters are installed: the plug-in opens its file then.
    ///
    /// When open(2) fails, alsa-lib (1.2.8, `snd_pcm_file_open_output_file`) continues without a file, and reports the
    /// error only after a whole buffer was written. Only the dump has the name of the file with its placeholders
    /// replaced.
    static func unwritableFile(of handle: borrowing PCMHandle) -> SystemError? {
        guard snd_pcm_type(handle.raw) == SND_PCM_TYPE_FILE, let path = path(of: handle) else { return nil }
        if path.utf8.first == UInt8(ascii: "|") { return nil }
        if FileKind(at: path) == .folder { return SystemError(code: EISDIR, operation: "write", subject: path) }
        return access(path, W_OK) == 0 ? nil : .last("write", path)
    }

    /// The errno of a failed write to the file during `call`; 0 without one.
    ///
    /// alsa-lib (1.2.8, `snd_pcm_file_write_bytes`) loses bytes that it could not write. Some calls then return -1,
    /// others return success; only errno shows the failure.
    static func writeError(during call: () -> Void) -> Int32 {
        tonearm_clear_errno()
        call()
        let code = tonearm_errno()
        switch code {
        case ENOSPC, EDQUOT, EFBIG, EIO, EPIPE: return code
        default: return 0
        }
    }

    private static func path(of handle: borrowing PCMHandle) -> String? {
        var output: OpaquePointer?
        guard snd_output_buffer_open(&output) == 0, let output else { return nil }
        defer { snd_output_close(output) }
        guard snd_pcm_dump(handle.raw, output) >= 0, snd_output_putc(output, 0) >= 0 else { return nil }
        var text: UnsafeMutablePointer<CChar>?
        _ = snd_output_buffer_string(output, &text)
        let mark = "Final file PCM (file="
        guard let text, let found = strstr(text, mark) else { return nil }
        let start = found + mark.utf8.count
        guard let end = strstr(start, ")\n") else { return nil }
        end.pointee = 0
        return String(cString: start)
    }
}
