import PCM
import Testing

@testable import Manifests
@testable import Media

@Suite("Encrypted MP4 against its source", Tool.needsFFmpeg, Tool.needsPackager)
struct EncryptionTests {
    static let signal = Signal(frames: 250_000)
    static let schemes = ["cenc", "cens", "cbc1", "cbcs"]
    static let keys = ContentKeys([.init(id: bytes(Packaged.keyID), value: bytes(Packaged.key))])

    static func bytes(_ hexadecimal: String) -> [UInt8] {
        let digits = Array(hexadecimal)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(String(digits[$0...($0 + 1)]), radix: 16) ?? 0 }
    }

    private func expectSource(_ decoder: any AudioDecoder) throws {
        #expect(difference(decoder.decodeAll().samples, Self.signal.samples) == nil)
        for frame in [249_999, 0, 100_000, 46_080, 46_079, 250_000] {
            try decoder.seek(toFrame: Int64(frame))
            let expected = Self.signal.slice(frame..<min(250_000, frame + 6000))
            #expect(try difference(decoder.decode(frames: 6000), expected) == nil, "frame \(frame)")
        }
        #expect(decoder.damage.isEmpty)
    }

    @Test("FLAC in every scheme, also with a part at the front that is plain", arguments: schemes)
    func everyScheme(scheme: String) throws {
        let source = try Self.signal.ffmpeg(MP4Tests.flac, to: "file.mp4")
        for lead in ["0", "2"] {
            let packaged = try Packaged(
                source, "output=out.mp4,drm_label=A",
                ["--segment_duration", "1", "--clear_lead", lead] + Packaged.encryption(scheme))
            let bytes = try #require(packaged.files["out.mp4"])
            try expectSource(try AudioFile.open(MemorySource(bytes), licenses: Self.keys))
            let wrong = ContentKeys([.init(id: [UInt8](repeating: 7, count: 16), value: Self.bytes(Packaged.key))])
            let refusal = MediaError.missingKey(id: Self.bytes(Packaged.keyID))
            let decoder = try AudioFile.open(MemorySource(bytes), licenses: wrong)
            #expect(decoder.decodeAll().error == refusal)
        }
    }

    @Test("A pattern of encrypted and plain blocks", arguments: ["cens", "cbcs"])
    func patterns(scheme: String) throws {
        let source = try Self.signal.ffmpeg(MP4Tests.flac, to: "file.mp4")
        for (encrypted, plain) in [(1, 9), (5, 5), (3, 1)] {
            let packaged = try Packaged(
                source, "output=out.mp4,drm_label=A",
                [
                    "--clear_lead", "0", "--crypt_byte_block", "\(encrypted)", "--skip_byte_block", "\(plain)",
                ] + Packaged.encryption(scheme))
            try expectSource(
                try AudioFile.open(MemorySource(try #require(packaged.files["out.mp4"])), licenses: Self.keys))
        }
    }

    @Test("Keys that change, and one request for each", arguments: schemes)
    func severalKeys(scheme: String) throws {
        let source = try Self.signal.ffmpeg(MP4Tests.flac, to: "file.mp4")
        let packaged = try Packaged(
            source, "init_segment=init.mp4,segment_template=$Number$.m4s,drm_label=A",
            [
                "--segment_duration", "1", "--clear_lead", "0", "--crypto_period_duration", "2", "--mpd_output",
                "out.mpd",
            ]
                + ["--generate_static_live_mpd"] + Packaged.encryption(scheme))
        let manifest = try Manifest(try #require(packaged.files["out.mpd"]), format: .dash, url: "https://h/out.mpd")
        let segments = try PackagedSegments(try PackagedSegments.first(manifest).segments, packaged.files)
        let licenses = RotatedKeys(Self.bytes(Packaged.key), Self.bytes(Packaged.keyID))
        try expectSource(try AudioFile.open(segments, licenses: licenses))
        #expect(licenses.requests.count == 3 && Set(licenses.requests.map(\.keyID)).count == 3)
    }

    @Test("A progressive file that ffmpeg encrypted")
    func progressive() throws {
        let options = [
            "-encryption_scheme", "cenc-aes-ctr", "-encryption_key", Packaged.key, "-encryption_kid", Packaged.keyID,
        ]
        let bytes = try Self.signal.ffmpeg(MP4Tests.flac + options, to: "file.mp4")
        try expectSource(try AudioFile.open(MemorySource(bytes), licenses: Self.keys))
        #expect(throws: MediaError.protected(by: "a key system that it does not name")) {
            try AudioFile.open(MemorySource(bytes))
        }
    }

    #if AAC
        @Test("AAC, whose first packets are decoded to know its format", arguments: ["cenc", "cbcs"])
        func aac(scheme: String) throws {
            let source = try Self.signal.ffmpeg(AACReference.encoder, to: "file.mp4")
            let plain = try Packaged(source, "output=out.mp4", ["--segment_duration", "1"])
            let encrypted = try Packaged(
                source, "output=out.mp4,drm_label=A",
                ["--segment_duration", "1", "--clear_lead", "0"] + Packaged.encryption(scheme))
            let expected = try AudioFile.open(MemorySource(try #require(plain.files["out.mp4"]))).decodeAll().samples
            let file = MemorySource(try #require(encrypted.files["out.mp4"]))
            let decoder = try AudioFile.open(file, licenses: Self.keys)
            #expect(difference(decoder.decodeAll().samples, expected) == nil)
            #expect(expected.count == Self.signal.samples.count)
        }
    #endif
}

/// The keys of Shaka Packager for content whose key changes: the raw key and its ID, rotated by one byte each time.
private final class RotatedKeys: LicenseProvider {
    private let keys: [ContentKeys.Key]
    private(set) var requests: [KeyRequest] = []

    init(_ key: [UInt8], _ id: [UInt8]) {
        func rotated(_ bytes: [UInt8], _ count: Int) -> [UInt8] {
            Array(bytes[(count % bytes.count)...] + bytes[..<(count % bytes.count)])
        }
        keys = (0..<16).map { .init(id: rotated(id, $0), value: rotated(key, $0)) }
    }

    func key(_ request: KeyRequest) throws(MediaError) -> [UInt8] {
        requests.append(request)
        return try ContentKeys(keys).key(request)
    }
}
