import Foundation
import Library
import Platform
import TestSupport

/// A folder with music of real encoders, and an index of it.
final class MusicFolder {
    let scratch: ScratchFolder
    let index: MusicIndex
    /// The path of the folder.
    var path: String { scratch["music"] }

    private static let files = MadeOnce<Data>()

    init() throws {
        scratch = try ScratchFolder()
        try FileManager.default.createDirectory(atPath: scratch["music"], withIntermediateDirectories: true)
        index = try MusicIndex(scratch["library.db"])
    }

    subscript(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file of `flac`: silence of so many frames.
    /// - Parameter tags: `NAME=value`.
    func add(_ name: String, _ tags: String..., frames: Int = 2000) throws {
        try write(Self.flac(tags, frames: frames), to: name)
    }

    static func flac(_ tags: [String], frames: Int = 2000, _ options: [String] = []) throws -> Data {
        try TaggedFLAC.data(tags, frames: frames, options)
    }

    /// Writes a file of `ffmpeg`, of the kind that its name has.
    func encode(_ name: String, seconds: Int = 1, _ options: String...) throws {
        let kind = URL(fileURLWithPath: name).pathExtension
        let data = try Self.files.value("\(kind) \(seconds) \(options)") {
            let folder = try ScratchFolder()
            let result = try TestProcess.run(
                "/usr/bin/ffmpeg",
                ["-loglevel", "error", "-f", "lavfi", "-i", "sine=frequency=440:sample_rate=44100", "-t", "\(seconds)"]
                    + options + [folder["a.\(kind)"]])
            guard result.code == 0 else { throw Unexpected("ffmpeg: \(result.errors)") }
            return try Data(contentsOf: URL(fileURLWithPath: folder["a.\(kind)"]))
        }
        try write(data, to: name)
    }

    func write(_ data: Data, to name: String) throws {
        try FileManager.default.createDirectory(
            atPath: Folder.containing(self[name]), withIntermediateDirectories: true)
        try data.write(to: URL(fileURLWithPath: self[name]))
    }

    @discardableResult
    func scan(
        _ control: ScanControl? = nil, now: Int64? = 2_000_000_000, failures: ScanFailures = ScanFailures()
    ) throws -> MusicScan.Summary {
        let summary = try MusicScan(
            index: index, scope: .tree(path), rules: .player, control: control, root: path, roots: MusicRoots([path]),
            failures: failures,
            now: now
        ).run()
        try MusicScan.finish(index)
        return summary
    }

    static let all = ListPage(limit: 1000)

    var titles: [String] { get throws { try index.tracks(Self.all).entries.map(\.name) } }

    func titles(matching words: String) throws -> [String] {
        guard let words = SearchWords(words) else { throw Unexpected("no words: \(words)") }
        return try index.tracks(matching: words, Self.all).entries.map(\.name)
    }
}
