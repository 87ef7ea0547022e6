import Foundation

/// Small files of the reference encoder, with tags. Each is made once a process.
public enum TaggedFLAC {
    private static let files = MadeOnce<Data>()

    /// Returns a file of silence: stereo, 44.1 kHz, 16 bits.
    /// - Parameters:
    ///   - tags: `NAME=value`.
    ///   - options: further ones of `flac`.
    public static func data(_ tags: [String], frames: Int = 2000, _ options: [String] = []) throws -> Data {
        try files.value("flac \(frames) \(tags) \(options)") {
            let folder = try ScratchFolder()
            try Data(count: frames * 4).write(to: URL(fileURLWithPath: folder["raw"]))
            let result = try TestProcess.run(
                "/usr/bin/flac",
                [
                    "--totally-silent", "--force-raw-format", "--endian=little", "--sign=signed", "--channels=2",
                    "--bps=16", "--sample-rate=44100", "-o", folder["a.flac"],
                ] + tags.map { "--tag=\($0)" } + options + [folder["raw"]])
            guard result.code == 0 else { throw Unexpected("flac: \(result.errors)") }
            return try Data(contentsOf: URL(fileURLWithPath: folder["a.flac"]))
        }
    }

    /// Writes such a file, and the folders that it needs.
    public static func write(to path: String, _ tags: [String] = [], frames: Int = 2000) throws {
        let url = URL(fileURLWithPath: path)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data(tags, frames: frames).write(to: url)
    }
}
