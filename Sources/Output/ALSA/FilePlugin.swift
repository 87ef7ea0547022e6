import CALSA
import CLinux
import Platform

/// What alsa-lib's `file` plug-in leaves to its users.
enum FilePlugin {
    /// The error with which the file could not be made; nil when it is there or `handle` is no `file` plug-in. Asked
    /// for after the hardware parameters are installed, which is when the plug-in opens its file.
    ///
    /// alsa-lib (1.2.8, `snd_pcm_file_open_output_file`) goes on without a file when open(2) fails, and only reports
    /// it once a whole buffer was written. The name of the file, with its place-holders filled in, is in the dump only.
    static func unwritableFile(of handle: borrowing PCMHandle) -> SystemError? {
        guard snd_pcm_type(handle.raw) == SND_PCM_TYPE_FILE, let path = path(of: handle) else { return nil }
        if path.utf8.first == UInt8(ascii: "|") { return nil }
        if FileKind(at: path) == .folder { return SystemError(code: EISDIR, operation: "write", subject: path) }
        return access(path, W_OK) == 0 ? nil : .last("write", path)
    }

    /// Why the plug-in could not write to its file during `call`; 0 when it could.
    ///
    /// alsa-lib (1.2.8, `snd_pcm_file_write_bytes`) forgets what it could not write. Some of its calls then return -1,
    /// others go on as if nothing had happened; only errno tells.
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
