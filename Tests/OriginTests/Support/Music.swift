import Foundation
import TestSupport

/// A sound, and the files that real encoders make of it.
struct Music: Sendable {
    var frames = 400_000
    var rate = 44_100
    var channels = 2
    /// 16 or 24.
    var depth = 16
    var seed: UInt64 = 1

    private static let recordings = MadeOnce<[UInt8]>()
    private static let files = MadeOnce<Data>()

    private var key: String { "\(frames) \(rate) \(channels) \(depth) \(seed)" }

    /// Interleaved, little-endian.
    func samples() -> [UInt8] { Self.recordings.value(key, makeSamples) }

    private func makeSamples() -> [UInt8] {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        var level = [Int64](repeating: 0, count: channels)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(frames * channels * depth / 8)
        for index in 0..<(frames * channels) {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            let noise = Int64(Int32(truncatingIfNeeded: state))
            level[index % channels] = (level[index % channels] * 15 + noise / 8) / 16
            let value = UInt32(bitPattern: Int32(clamping: level[index % channels]))
            for byte in (4 - depth / 8)..<4 { bytes.append(UInt8(truncatingIfNeeded: value >> UInt32(8 * byte))) }
        }
        return bytes
    }

    /// Encodes it with `flac`.
    /// - Parameter options: of `flac`, after the defaults.
    func writeFLAC(to path: String, _ options: [String] = []) throws {
        try write(to: path, "flac \(options)") { raw, path in
            try run(
                "/usr/bin/flac",
                [
                    "--totally-silent", "--force", "--lax", "--force-raw-format", "--endian=little", "--sign=signed",
                    "--channels=\(channels)", "--bps=\(depth)", "--sample-rate=\(rate)", "-o", path,
                ] + options + [raw])
        }
    }

    /// Writes a file with `ffmpeg`, of the kind that its name has.
    /// - Parameter options: of `ffmpeg`, for the file.
    func write(to path: String, _ options: [String] = []) throws {
        try write(to: path, "ffmpeg \(URL(fileURLWithPath: path).pathExtension) \(options)") { raw, path in
            try run(
                "/usr/bin/ffmpeg",
                ["-loglevel", "error", "-y", "-f", "s\(depth)le", "-ar", "\(rate)", "-ac", "\(channels)", "-i", raw]
                    + options + [path])
        }
    }

    /// Writes the file that `encode` makes of the file with the samples, which is the same for each kind.
    private func write(to path: String, _ kind: String, encode: (_ raw: String, _ path: String) throws -> Void) throws {
        let file = URL(fileURLWithPath: path)
        let bytes = try Self.files.value("\(key) \(kind)") {
            let folder = try ScratchFolder()
            let encoded = folder["encoded.\(file.pathExtension)"]
            try Data(samples()).write(to: URL(fileURLWithPath: folder["raw"]))
            try encode(folder["raw"], encoded)
            return try Data(contentsOf: URL(fileURLWithPath: encoded))
        }
        try bytes.write(to: file)
    }

    /// The samples that `ffmpeg` decodes from `file`, in the form of `samples()`.
    func decoded(_ file: [UInt8], name: String) throws -> [UInt8] {
        let folder = try ScratchFolder()
        try Data(file).write(to: URL(fileURLWithPath: folder[name]))
        let arguments = ["-loglevel", "error", "-i", folder[name], "-f", "s\(depth)le", folder["decoded"]]
        let errors = try run("/usr/bin/ffmpeg", arguments)
        guard errors.isEmpty else { throw Unexpected("ffmpeg: \(errors)") }
        return Array(try Data(contentsOf: URL(fileURLWithPath: folder["decoded"])))
    }
}

/// Runs a program to its end.
/// - Returns: its output on stderr.
@discardableResult
func run(_ program: String, _ arguments: [String]) throws -> String {
    let result = try TestProcess.run(program, arguments, output: .null)
    guard result.code == 0 else {
        throw Unexpected("\(program) \(arguments.joined(separator: " ")): \(result.errors)")
    }
    return result.errors
}
