import Foundation
import TestSupport
import Testing

@testable import Media

@Suite("The identity of a sound (docs/decisions/audio-identity.md)")
struct AudioIdentityTests {
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    private func identity(_ path: String) throws -> Int64 {
        let source = BytesOfFile(try Data(contentsOf: URL(fileURLWithPath: path)))
        return try AudioIdentity.of(source, try AudioFile.open(source).properties)
    }

    private func encode(_ name: String, _ options: [String], source: String = "sine=frequency=440") throws -> String {
        let result = try TestProcess.run(
            "/usr/bin/ffmpeg",
            ["-loglevel", "error", "-f", "lavfi", "-i", source, "-t", "12"] + options + [folder[name]])
        guard result.code == 0 else { throw Unexpected("ffmpeg: \(result.errors)") }
        return folder[name]
    }

    /// The same packets with other tags.
    private func retag(_ path: String, _ name: String) throws -> String {
        let tags = ["title=\(String(repeating: "long ", count: 1500))", "artist=B", "album=C", "date=1999"]
        let result = try TestProcess.run(
            "/usr/bin/ffmpeg",
            ["-loglevel", "error", "-i", path, "-c", "copy"] + tags.flatMap { ["-metadata", $0] } + [folder[name]])
        guard result.code == 0 else { throw Unexpected("ffmpeg: \(result.errors)") }
        return folder[name]
    }

    @Test(
        "Other tags leave it, another sound changes it",
        arguments: [
            ("flac", "flac"), ("mp3", "libmp3lame"), ("wav", "pcm_s16le"), ("aiff", "pcm_s16be"),
            ("m4a", "alac"), ("wv", "wavpack"), ("ogg", "libvorbis"), ("opus", "libopus"),
        ])
    func tags(ending: String, codec: String) throws {
        let first = try encode("a.\(ending)", ["-c:a", codec])
        let id = try identity(first)
        #expect(id != 0)
        #expect(try identity(try retag(first, "b.\(ending)")) == id)
        let other = try encode("c.\(ending)", ["-c:a", codec], source: "sine=frequency=441")
        #expect(try identity(other) != id)
        let shorter = try encode("d.\(ending)", ["-c:a", codec, "-t", "11.9"])
        #expect(try identity(shorter) != id)
    }

    @Test("Tags of ID3v2, APE and ID3v1 around MP3 do not count")
    func around() throws {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: try encode("a.mp3", ["-id3v2_version", "0"])))
        func identity(_ data: Data) throws -> Int64 {
            let source = BytesOfFile(data)
            return try AudioIdentity.of(source, try AudioFile.open(source).properties)
        }
        let plain = try identity(bytes)
        let id3v1 = Data("TAG".utf8) + Data(count: 125)
        let id3v2 = Data([0x49, 0x44, 0x33, 3, 0, 0, 0, 0, 0x10, 0]) + Data(count: 2048)
        #expect(try identity(bytes + id3v1) == plain)
        #expect(try identity(id3v2 + bytes) == plain)
        #expect(try identity(id3v2 + bytes + id3v1) == plain)
    }

    @Test("An empty chunk of samples before them in MP4 does not count, and other sounds differ")
    func emptyChunk() throws {
        let empty = Data([0, 0, 0, 8]) + Data("mdat".utf8)
        func identities(_ name: String, _ source: String) throws -> [Int64] {
            let path = try encode(name, ["-c:a", "alac"], source: source)
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            let properties = try AudioFile.open(BytesOfFile(bytes)).properties
            let type = Int(bytes[3])
            // The offsets of the samples would be wrong: only the search for them counts here.
            return try [bytes, bytes.prefix(type) + empty + bytes.dropFirst(type)].map {
                try AudioIdentity.of(BytesOfFile($0), properties)
            }
        }
        let (one, other) = (
            try identities("a.m4a", "sine=frequency=440"), try identities("b.m4a", "sine=frequency=441")
        )
        #expect(one[0] == one[1] && other[0] == other[1] && one[0] != other[0])
    }

    @Test("A difference at the beginning, in the middle or at the end is one", arguments: [0, 1, 2])
    func samples(place: Int) throws {
        var bytes = try Data(contentsOf: URL(fileURLWithPath: try encode("a.wav", ["-c:a", "pcm_s16le"])))
        func identity() throws -> Int64 {
            let source = BytesOfFile(bytes)
            return try AudioIdentity.of(source, try AudioFile.open(source).properties)
        }
        let before = try identity()
        bytes[[2000, bytes.count / 2 + 1000, bytes.count - 100][place]] ^= 1
        #expect(try identity() != before)
    }
}

/// A file in memory.
private final class BytesOfFile: ByteSource {
    private let data: Data
    var length: Int64? { Int64(data.count) }

    init(_ data: Data) { self.data = Data(data) }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead {
        guard offset < Int64(data.count) else { return .end }
        let part = data[Int(offset)...].prefix(buffer.count)
        buffer.copyBytes(from: part)
        return ByteRead(count: part.count)
    }
}
