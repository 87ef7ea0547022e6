import ApplianceTestSupport
import Foundation
import Library
import Platform
import TestSupport
import Testing

@testable import Appliance
@testable import MPD

/// A folder with music of real encoders, its index, and the commands of MPD about it.
final class MPDMusic: Sendable {
    let scratch: ScratchFolder
    let index: MusicIndex
    var path: String { scratch["music"] }

    private static let files = MadeOnce<Data>()

    init() throws {
        scratch = try ScratchFolder()
        try FileManager.default.createDirectory(atPath: scratch["music"], withIntermediateDirectories: true)
        index = try MusicIndex(scratch["library.db"])
    }

    static let needsEncoders = ConditionTrait.enabled(
        if: ["flac", "lame", "oggenc"].allSatisfy { FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)") },
        "needs `flac`, `lame` and `oggenc`: apt-get install flac lame vorbis-tools")

    /// Writes a file of `flac`: silence of so many frames.
    /// - Parameter tags: `NAME=value`.
    func add(_ name: String, _ tags: String..., frames: Int = 44_100, options: [String] = []) throws {
        let format = ["--force-raw-format", "--endian=little", "--sign=signed", "--channels=2", "--bps=16"]
        let arguments =
            ["--totally-silent", "--sample-rate=44100", "-o", "out"] + format + tags.map { "--tag=\($0)" } + options
        try write(Self.encode("/usr/bin/flac", arguments + ["in"], Data(count: frames * 4)), to: name)
    }

    /// Writes a file of `lame` or `oggenc`.
    func encode(_ name: String, _ encoder: String, _ arguments: [String]) throws {
        try write(Self.encode(encoder, arguments, Data(count: 22_050 * 4)), to: name)
    }

    private static func encode(_ encoder: String, _ arguments: [String], _ samples: Data) throws -> Data {
        try files.value("\(encoder) \(arguments) \(samples.count)") {
            let folder = try ScratchFolder()
            try samples.write(to: URL(fileURLWithPath: folder["in"]))
            let result = try TestProcess.run(encoder, arguments, in: folder.path)
            guard result.code == 0 else { throw Unexpected("\(encoder): \(result.errors)") }
            return try Data(contentsOf: URL(fileURLWithPath: folder["out"]))
        }
    }

    func write(_ data: Data, to name: String) throws {
        let path = "\(path)/\(name)"
        try FileManager.default.createDirectory(atPath: Folder.containing(path), withIntermediateDirectories: true)
        try data.write(to: URL(fileURLWithPath: path))
    }

    func scan() throws {
        _ = try MusicScan(index: index, scope: .tree(path), rules: .player, root: path).run()
        try MusicScan.finish(index)
    }

    var database: MPDDatabase { MPDDatabase(index, MusicURIs(folders: [path])) }

    /// Returns the lines of an answer, as a client gets them.
    func answer(_ line: String, _ database: MPDDatabase? = nil) -> [String] {
        do throws(MPDFailure) {
            let command = try MPDArguments(line: Array(line.utf8))
            do throws(MPDFailure) {
                let pages = try (database ?? self.database).answer(to: command.name, command.values)
                var bytes: [UInt8] = []
                while let piece = try pages.next() {
                    #expect(piece.count < MPDPages.pieceSize + 16_384)
                    bytes += piece
                }
                return Self.lines(bytes + Array("OK\n".utf8))
            } catch {
                return Self.lines(error.line(at: 0, command: command.name))
            }
        } catch {
            return Self.lines(error.line(at: 0, command: ""))
        }
    }

    private static func lines(_ bytes: [UInt8]) -> [String] {
        bytes.split(separator: 0x0A, omittingEmptySubsequences: false).dropLast().map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// Returns the URIs of an answer.
    func found(_ line: String) -> [String] {
        answer(line).filter { $0.hasPrefix("file: ") || $0.hasPrefix("ACK") }.map { String($0.dropFirst(6)) }
    }
}
