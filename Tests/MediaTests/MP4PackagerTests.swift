import PCM
import Testing

@testable import Media

@Suite("MP4 as Shaka Packager writes it", Tool.needsFFmpeg, Tool.needsPackager)
struct MP4PackagerTests {
    static let signal = Signal(frames: 250_000)

    @Test("A file with an index decodes to the source")
    func oneFile() throws {
        let source = try Self.signal.ffmpeg(MP4Tests.flac, to: "file.mp4")
        let packaged = try Packaged(source, "output=out.mp4", ["--segment_duration", "1"])
        let decoder = try AudioFile.open(MemorySource(try #require(packaged.files["out.mp4"])))
        #expect(decoder.properties.frameCount == 250_000)
        #expect(difference(decoder.decodeAll().samples, Self.signal.samples) == nil)
        #expect(decoder.damage.isEmpty)
        for frame in [249_999, 0, 100_000, 46_080, 46_079, 250_000] {
            try decoder.seek(toFrame: Int64(frame))
            let expected = Self.signal.slice(frame..<min(250_000, frame + 6000))
            #expect(try difference(decoder.decode(frames: 6000), expected) == nil, "frame \(frame)")
        }
    }

    @Test("The index is used: a seek to the end reads little of the middle")
    func index() throws {
        let source = try Self.signal.ffmpeg(MP4Tests.flac, to: "file.mp4")
        let packaged = try Packaged(source, "output=out.mp4", ["--segment_duration", "0.2"])
        let memory = MemorySource(try #require(packaged.files["out.mp4"]))
        let decoder = try AudioFile.open(memory)
        let before = memory.readCount
        try decoder.seek(toFrame: 245_000)
        #expect(try difference(decoder.decode(frames: 500), Self.signal.slice(245_000..<245_500)) == nil)
        #expect(memory.readCount - before < 8)
    }

    @Test("A wrong index costs time, not the position", arguments: [-5000, 1, 3000, 70_000, 10_000_000])
    func wrongIndex(shift: Int) throws {
        let source = try Self.signal.ffmpeg(MP4Tests.flac, to: "file.mp4")
        let packaged = try Packaged(source, "output=out.mp4", ["--segment_duration", "0.5"])
        var bytes = try #require(packaged.files["out.mp4"])
        let box = try #require(Boxes.find(["sidx"], in: bytes).first)
        // The distance from the index to the first part.
        let gap = box.lowerBound + 24
        bytes.replaceSubrange(gap..<(gap + 4), with: Chunks.big(max(0, shift), 4))
        if shift < 0 {
            // Durations that are too short: parts seem to begin earlier than they do.
            for entry in stride(from: box.lowerBound + 36, to: box.upperBound, by: 12) {
                bytes.replaceSubrange(entry..<(entry + 4), with: Chunks.big(-shift, 4))
            }
        }
        let decoder = try AudioFile.open(MemorySource(bytes))
        for frame in [240_000, 30_000, 0, 120_000] {
            try decoder.seek(toFrame: Int64(frame))
            let expected = Self.signal.slice(frame..<(frame + 6000))
            #expect(try difference(decoder.decode(frames: 6000), expected) == nil, "frame \(frame)")
        }
    }

    @Test(
        "Encrypted content is refused without keys, and its packets say how they are encrypted",
        arguments: ["cenc", "cens", "cbc1", "cbcs"])
    func encryption(scheme: String) throws {
        let source = try Self.signal.ffmpeg(MP4Tests.flac, to: "file.mp4")
        let packaged = try Packaged(
            source, "output=out.mp4,drm_label=A",
            ["--segment_duration", "1", "--clear_lead", "2"] + Packaged.encryption(scheme))
        let bytes = try #require(packaged.files["out.mp4"])
        #expect(throws: MediaError.protected(by: "ClearKey")) {
            try AudioFile.open(MemorySource(bytes))
        }
        let container = try MP4Container(MemorySource(bytes), tags: TrackMetadata())
        #expect(container.encryptionScheme?.rawValue == scheme)
        #expect(container.protectionSystems.count == 1)
        #expect(container.protectionSystems.first?.systemID.first == 0x10)
        var packets: [(start: Int64, encryption: PacketEncryption?)] = []
        while let packet = try container.nextPacket() {
            packets.append((try #require(packet.timeStamp), packet.encryption))
        }
        let plain = packets.prefix { $0.encryption == nil }
        #expect(plain.count >= 19 && plain.count < packets.count)
        let encrypted = packets.dropFirst(plain.count).compactMap(\.encryption)
        #expect(encrypted.count == packets.count - plain.count)
        #expect(encrypted.allSatisfy { $0.scheme.rawValue == scheme && $0.keyID.starts(with: [0, 0x11, 0x22]) })
        #expect(
            encrypted.allSatisfy { $0.initializationVector.count == (scheme == "cenc" || scheme == "cens" ? 8 : 16) })
        // A constant vector, or one for each packet.
        let vectors = Set(encrypted.map(\.initializationVector))
        #expect(vectors.count == (scheme == "cbcs" ? 1 : encrypted.count))
        // A seek finds the same vector.
        for index in [packets.count - 1, plain.count, 3, plain.count + 7] {
            #expect(try container.seek(toFrame: packets[index].start + 1) == packets[index].start)
            let packet = try container.nextPacket()
            #expect(packet?.encryption == packets[index].encryption)
        }
    }

    @Test("A progressive file that ffmpeg encrypted has a vector for each packet")
    func progressiveEncryption() throws {
        let options = [
            "-encryption_scheme", "cenc-aes-ctr", "-encryption_key", Packaged.key, "-encryption_kid", Packaged.keyID,
        ]
        let bytes = try Self.signal.ffmpeg(MP4Tests.flac + options, to: "file.mp4")
        let withoutList = try #require(Boxes.find(["moov", "trak", "mdia", "minf", "stbl", "senc"], in: bytes).first)
        // Once by `senc`, once by `saiz` and `saio`.
        var other = bytes
        other.replaceSubrange((withoutList.lowerBound + 4)..<(withoutList.lowerBound + 8), with: "free".utf8)
        var vectors: [[[UInt8]]] = []
        for bytes in [bytes, other] {
            let container = try MP4Container(MemorySource(bytes), tags: TrackMetadata())
            var found: [[UInt8]] = []
            while let packet = try container.nextPacket() {
                found.append(try #require(packet.encryption).initializationVector)
            }
            #expect(Set(found).count == found.count && found.count == (250_000 + 4607) / 4608)
            for index in [30, 2, 54] {
                #expect(try container.seek(toFrame: Int64(index * 4608)) == Int64(index * 4608))
                #expect(try container.nextPacket()?.encryption?.initializationVector == found[index])
            }
            vectors.append(found)
        }
        #expect(vectors[0] == vectors[1])
    }
}
