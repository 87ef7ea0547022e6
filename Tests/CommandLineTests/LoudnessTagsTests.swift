import CLinux
import Foundation
import Platform
import Player
import ProgramTestSupport
import TestSupport
import Testing

@testable import tonearm

#if TagWriting
    @Suite("tonearm loudness --write-tags", LoudFiles.needsFFmpeg)
    struct LoudnessTagsTests {
        private let program: Program
        private let files: LoudFiles
        private var folder: ScratchFolder { program.folder }

        init() throws {
            program = try Program()
            files = LoudFiles(folder: program.folder)
        }

        private static let formats: [(name: String, options: [String])] = {
            var formats = [
                ("a.flac", []), ("a.wav", []), ("a.aiff", []), ("a.wv", []), ("a.mp3", ["-c:a", "libmp3lame"]),
                ("a.ogg", ["-c:a", "libvorbis"]), ("a.opus", ["-c:a", "libopus"]), ("a.oga", ["-c:a", "flac"]),
                ("alac.m4a", ["-c:a", "alac"]),
            ]
            #if AAC
                formats.append(("aac.m4a", ["-c:a", "aac"]))
            #endif
            return formats
        }()

        private func open(_ name: String) throws -> OpenedProduct {
            try LocalFiles().open(
                MediaProduct(productType: .track, productId: folder[name], referenceId: name),
                session: PlaybackSession(), cancellation: try Cancellation(), medium: MediumAccess())
        }

        private func samples(_ name: String) throws -> [Int32] {
            let decoder = try open(name).decoder
            var samples: [Int32] = []
            let buffer = UnsafeMutableBufferPointer<Int32>.allocate(capacity: 4096 * 8)
            defer { buffer.deallocate() }
            while case .frames(let count) = try decoder.read(into: buffer) {
                samples += buffer[..<(count * decoder.properties.format.channelCount)]
            }
            return samples
        }

        private func lines(_ words: String..., expecting code: Int32 = 0) throws -> [JSONValue] {
            let result = try program.start(["loudness", "--json", "--write-tags"] + words).finish()
            #expect(result.code == code, "\(result)")
            return try result.json()
        }

        @Test("Each kind of file has the tags then; samples, other tags and permissions stay")
        func formats() throws {
            var before: [String: [Int32]] = [:]
            for (name, options) in Self.formats {
                try files.make(name, seconds: 0.7, rate: 48_000, ["-metadata", "title=Song"] + options)
                chmod(folder[name], 0o640)
                before[name] = try samples(name)
            }
            let measured = try lines(".")
            for (name, _) in Self.formats {
                let line = try #require(measured.first { $0["file"]?.string == "./\(name)" }, "\(name)")
                let gain = try open(name).replayGain
                try #require(gain.isComplete, "\(name): \(gain)")
                #expect(abs(gain.trackGain! - (line["trackGain"]?.number ?? 0)) <= 0.005, "\(name)")
                #expect(abs(gain.albumGain! - (line["albumGain"]?.number ?? 0)) <= 0.005, "\(name)")
                // R128 has no peak.
                let peak = name.hasSuffix("opus") ? 1 : line["trackPeak"]?.number ?? 0
                #expect(abs(gain.trackPeak! - peak) < 1e-6, "\(name)")
                #expect(try open(name).decoder.metadata.title == "Song", "\(name)")
                #expect(try samples(name) == before[name], "\(name): other samples")
                let attributes = try FileManager.default.attributesOfItem(atPath: folder[name])
                #expect(attributes[.posixPermissions] as? Int == 0o640, "\(name)")
            }
            #expect(try lines(".").last?["tagged"]?.integer == Int64(Self.formats.count))
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(!names.contains { $0.hasPrefix(".tonearm-") })
        }

        /// The player reads these files. TagLib cannot write their tags, or would damage the files.
        private static let refusedFormats: [(name: String, options: [String])] = {
            var formats = [
                ("flac.mka", ["-c:a", "flac"]), ("opus.webm", ["-c:a", "libopus"]),
                ("mp3.mka", ["-c:a", "libmp3lame"]), ("vorbis.mka", ["-c:a", "libvorbis"]),
                ("rf64.wav", ["-rf64", "always"]), ("wave64.w64", []), ("mp3.wav", ["-c:a", "libmp3lame"]),
                ("fragments.mp4", ["-c:a", "alac", "-movflags", "frag_keyframe+empty_moov"]),
            ]
            #if AAC
                formats.append(("adts.aac", ["-c:a", "aac"]))
            #endif
            return formats
        }()

        /// Returns half a second of random bits as DSDIFF.
        private static func dff() -> [UInt8] {
            func big(_ value: Int, _ count: Int) -> [UInt8] {
                (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
            }
            func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
                Array(name.utf8) + big(content.count, 8) + content
            }
            let properties =
                Array("SND ".utf8) + chunk("FS  ", big(2_822_400, 4)) + chunk("CHNL", big(1, 2) + Array("C   ".utf8))
                + chunk("CMPR", Array("DSD ".utf8) + [3] + Array("not".utf8))
            var state: UInt64 = 1
            let data = (0..<176_400).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1
                return UInt8(state >> 56)
            }
            return chunk(
                "FRM8",
                Array("DSD ".utf8) + chunk("FVER", [1, 5, 0, 0]) + chunk("PROP", properties) + chunk("DSD ", data))
        }

        @Test("Other kinds of files do not change at all; an error names each, and its result is stored instead")
        func refused() throws {
            for (name, options) in Self.refusedFormats { try files.make(name, seconds: 0.7, rate: 48_000, options) }
            try program.write(Self.dff(), to: "dsd.dff")
            // The name does not matter.
            try FileManager.default.copyItem(atPath: folder["flac.mka"], toPath: folder["named.mp3"])
            try FileManager.default.copyItem(atPath: folder["flac.mka"], toPath: folder["named.flac"])
            let names = Self.refusedFormats.map { $0.name } + ["dsd.dff", "named.mp3", "named.flac"]
            try files.make("b.flac", seconds: 0.7)
            let versions = try names.map { try MusicFileVersion(at: folder[$0]) }
            let before = try names.map { try program.bytes($0) }
            let measured = try lines(".", expecting: 1)
            for (index, name) in names.enumerated() {
                let errors = measured.filter { $0["event"]?.string == "error" && $0["file"]?.string == "./\(name)" }
                let message = try #require(errors.first?["message"]?.string, "\(name)")
                #expect(errors.count == 1 && message.hasPrefix(versions[index].path), "\(message)")
                #expect(message.contains("cannot be written"), "\(message)")
                #expect(try program.bytes(name) == before[index], "\(name): other bytes")
                #expect(try MusicFileVersion(at: folder[name]) == versions[index], "\(name)")
            }
            #expect(try open("b.flac").replayGain.isComplete)
            let all = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(Set(all) == Set(names + ["b.flac", "state"]))
            // Without the option nothing is measured again.
            let again = try program.run("loudness", "--json", ".").json()
            let known = again.filter { $0["result"]?.string == "known" }.map { $0["file"]?.string }
            #expect(Set(known) == Set(names.map { "./\($0)" }))
        }
    }
#endif
