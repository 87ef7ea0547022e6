import Crypto
import Foundation
import Media
import Network
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Account
@testable import Playback
@testable import Player
@testable import Streaming

@Suite("Encrypted products of a content service")
struct EncryptedContentTests {
    private let folder: ScratchFolder
    private let track: Track
    private let service = ScriptedService()

    private static let key = EncryptedTrack.key

    init() throws {
        folder = try ScratchFolder()
        track = try Track("a", frames: 100_000, in: folder)
    }

    private func playbackinfo(_ type: String, _ manifest: String, license: String? = nil) -> String {
        let field = license.map { "\"licenseUrl\": \"\($0)\"," } ?? ""
        return """
            {"trackId": 42, "assetPresentation": "FULL", "audioMode": "STEREO", "audioQuality": "LOSSLESS", \(field)
             "manifestMimeType": "\(type)", "manifest": "\(Data(manifest.utf8).base64EncodedString())"}
            """
    }

    private final class NoToken: CredentialsProvider {
        func token(insteadOf rejected: String?, for use: TokenUse) -> String? { nil }
    }

    private func open(_ info: String) throws(PlayerError) -> OpenedProduct {
        service.playbackinfo = { _, _ in (200, info) }
        let source = ContentService(
            ServiceSettings(baseURL: "https://service/"), over: service.network, credentials: NoToken())
        let product = MediaProduct(productType: .track, productId: "tonearm:track/7", referenceId: "r")
        return try source.open(
            product, session: PlaybackSession(), cancellation: try! Cancellation(), medium: MediumAccess())
    }

    private func decode(_ opened: OpenedProduct) throws -> [Int32] {
        var samples: [Int32] = []
        let buffer = UnsafeMutableBufferPointer<Int32>.allocate(capacity: 8192)
        defer { buffer.deallocate() }
        while case .frames(let count) = try opened.decoder.read(into: buffer) {
            samples += buffer.prefix(count * track.format.channelCount)
        }
        return samples
    }

    private func encryptedFile() throws -> [UInt8] { try EncryptedTrack.file(of: track, in: folder) }

    @Test("HLS, AES-128: the key is fetched once, and the vector is the segment's number")
    func wholeSegments() throws {
        let plain = try track.file
        let padding = 16 - plain.count % 16
        var cipher = try AESCBC(
            .encrypt, key: SecretBytes(copying: Self.key),
            initializationVector: [UInt8](repeating: 0, count: 15) + [5])
        let segment = try cipher.process(plain + [UInt8](repeating: UInt8(padding), count: padding))
        service.content = { _, transfer in
            let isKey = transfer.request.url == "https://keys/1"
            ScriptedService.serve(isKey ? Self.key : segment, to: transfer)
            transfer.end()
        }
        let playlist = """
            #EXTM3U
            #EXT-X-TARGETDURATION:3
            #EXT-X-MEDIA-SEQUENCE:5
            #EXT-X-KEY:METHOD=AES-128,URI="https://keys/1"
            #EXTINF:2.3,
            https://content/5
            #EXT-X-ENDLIST
            """
        let opened = try open(playbackinfo("application/vnd.apple.mpegurl", playlist))
        #expect(try decode(opened) == track.samples)
        #expect(service.contentRequests.filter { $0.url == "https://keys/1" }.count == 1)
    }

    @Test("HLS, AES-128: a key on a host that does not answer comes from the redundant stream's host")
    func redundantKey() throws {
        let plain = try track.file
        let padding = 16 - plain.count % 16
        var cipher = try AESCBC(
            .encrypt, key: SecretBytes(copying: Self.key),
            initializationVector: [UInt8](repeating: 0, count: 15) + [5])
        let segment = try cipher.process(plain + [UInt8](repeating: UInt8(padding), count: padding))
        let playlist =
            "#EXTM3U\n#EXT-X-TARGETDURATION:3\n#EXT-X-MEDIA-SEQUENCE:5\n"
            + "#EXT-X-KEY:METHOD=AES-128,URI=\"key\"\n#EXTINF:2.3,\n5\n#EXT-X-ENDLIST\n"
        service.content = { _, transfer in
            let url = transfer.request.url
            if url == "https://a/x/key" { return transfer.end(.connection(.refused)) }
            let isKey = url.hasSuffix("/key")
            ScriptedService.serve(
                url.hasSuffix(".m3u8") ? Array(playlist.utf8) : isKey ? Self.key : segment, to: transfer)
            transfer.end()
        }
        let variant = "#EXT-X-STREAM-INF:BANDWIDTH=1000000,CODECS=\"fLaC\"\n"
        let master = "#EXTM3U\n\(variant)https://a/x/p.m3u8\n\(variant)https://b/x/p.m3u8\n"
        let opened = try open(playbackinfo("application/vnd.apple.mpegurl", master))
        #expect(try decode(opened) == track.samples)
        let keys = service.contentRequests.map { $0.url }.filter { $0.hasSuffix("/key") }
        #expect(keys == ["https://a/x/key", "https://b/x/key"])
    }

    @Test("MP4 with a ClearKey license server that the playbackinfo names")
    func clearKey() throws {
        let file = try encryptedFile()
        var body: [UInt8]?
        service.content = { _, transfer in
            if case .post(let request, "application/json") = transfer.request.method {
                body = request
                let answer = #"{"keys":[{"kty":"oct","kid":"AAAAAAAAAAAAAAAAAAAAAA","k":"AQIDBAUGBwgJCgsMDQ4PEA"}]}"#
                transfer.answer(200, [], Array(answer.utf8))
            } else {
                ScriptedService.serve(file, to: transfer)
                transfer.end()
            }
        }
        let manifest = #"{"mimeType": "audio/mp4", "codecs": "flac", "urls": ["https://content/a"]}"#
        let opened = try open(
            playbackinfo("application/vnd.tidal.bts", manifest, license: "https://licenses/clear"))
        #expect(try decode(opened) == track.samples)
        let sent = String(decoding: try #require(body), as: UTF8.self)
        #expect(sent == #"{"kids":["AAAAAAAAAAAAAAAAAAAAAA"],"type":"temporary"}"#)
        #expect(service.contentRequests.last { $0.url == "https://licenses/clear" } != nil)
    }

    @Test("Content without keys is refused, and the error names the key system")
    func refused() throws {
        let file = try encryptedFile()
        service.content = { _, transfer in
            ScriptedService.serve(file, to: transfer)
            transfer.end()
        }
        let manifest = """
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT2S"><Period>
            <AdaptationSet mimeType="audio/mp4"><ContentProtection schemeIdUri="urn:mpeg:dash:mp4protection:2011"
            value="cenc"/><ContentProtection schemeIdUri="urn:uuid:EDEF8BA9-79D6-4ACE-A3C8-27DCD51D21ED"/>
            <Representation id="0" bandwidth="1000" codecs="flac"><BaseURL>https://content/a</BaseURL></Representation>
            </AdaptationSet></Period></MPD>
            """
        #expect { try open(playbackinfo("application/dash+xml", manifest)) } throws: { error in
            (error as? PlayerError)?.message.contains("protected by Widevine") ?? false
        }
        let unnamed = #"{"mimeType": "audio/mp4", "codecs": "flac", "urls": ["https://content/a"]}"#
        #expect { try open(playbackinfo("application/vnd.tidal.bts", unnamed)) } throws: { error in
            (error as? PlayerError)?.message.contains("protected by a key system that it does not name") ?? false
        }
    }

    /// A track that Shaka Packager has divided and encrypted with the scheme `cbcs`, and its key as a file.
    private func packaged(
        _ codec: [String] = ["-c:a", "flac", "-strict", "-2"],
        segments: String = "init_segment=init.mp4,segment_template=$Number$.m4s",
        options: [String] = ["--generate_static_live_mpd", "--mpd_output", "out.mpd"]
    ) throws -> (content: PackagedContent, track: Track) {
        let content = try PackagedContent()
        let track = try Track("c", frames: 60_000, in: content.folder)
        try content.encode(track, to: "a.mp4", codec)
        try Data(Self.key).write(to: URL(fileURLWithPath: content.folder["key.bin"]))
        try StreamTool.run(
            StreamTool.packager,
            [
                "in=a.mp4,stream=audio,\(segments),playlist_name=audio.m3u8,drm_label=A",
                "--segment_duration", "1", "--hls_master_playlist_output", "master.m3u8", "--clear_lead", "0",
                "--hls_key_uri", "key.bin", "--enable_raw_key_encryption", "--keys",
                "label=A:key_id=\(String(repeating: "0", count: 32)):key=\(hexadecimal(Self.key))",
                "--protection_scheme", "cbcs",
            ] + options, in: content.folder.path)
        return (content, track)
    }

    @Test("HLS, SAMPLE-AES: samples in fragmented MP4, with the key that the playlist names", StreamTool.needed)
    func sampleAES() throws {
        let (content, track) = try packaged()
        let playlist = try content.text("audio.m3u8")
        #expect(playlist.contains("METHOD=SAMPLE-AES"))
        let decoder = try content.open(playlist, type: "application/vnd.apple.mpegurl")
        #expect(try decoder.decodeRest().samples == track.samples)
        try decoder.seek(toFrame: 30_001)
        #expect(try decoder.decodeRest().samples == track.samples(from: 30_001))
        #expect(content.fetched.filter { $0 == "key.bin" }.count == 1)
    }

    @Test("HLS, SAMPLE-AES in packed AAC is refused by name, streamed and downloaded", StreamTool.needed)
    func sampleAESInPackedAAC() throws {
        let (content, _) = try packaged(
            ["-c:a", "aac"], segments: "segment_template=$Number$.aac",
            options: ["--transport_stream_timestamp_offset_ms", "500"])
        let playlist = try content.text("audio.m3u8")
        #expect(playlist.contains("METHOD=SAMPLE-AES") && !playlist.contains("EXT-X-MAP"))
        let reason = "SAMPLE-AES outside of MP4 is not supported"
        #expect {
            try content.open(playlist, type: "application/vnd.apple.mpegurl")
        } throws: { error in
            (error as? PlayerError)?.message.contains(reason) ?? false
        }
        let offline = try OfflineFixture(network: content.service.network)
        #expect(offline.engine.offline(OfflineFixture.product(7)))
        try offline.spin("the failure") { offline.log.failure != nil }
        #expect(offline.log.failure?.message.contains(reason) ?? false)
        #expect(!content.fetched.contains { $0.hasSuffix(".aac") })
    }

    @Test("DASH with the address of a ClearKey license server (dashif:Laurl)", StreamTool.needed)
    func licenseAddress() throws {
        let (content, track) = try packaged()
        let served = content.service.content
        content.service.content = { count, transfer in
            guard case .post = transfer.request.method else { return served(count, transfer) }
            let answer = #"{"keys":[{"kty":"oct","kid":"AAAAAAAAAAAAAAAAAAAAAA","k":"AQIDBAUGBwgJCgsMDQ4PEA"}]}"#
            transfer.answer(200, [], Array(answer.utf8))
        }
        let protection = """
            <ContentProtection schemeIdUri="urn:uuid:e2719d58-a985-b3c9-781a-b030af78d30e" value="ClearKey1.0">
            <dashif:Laurl xmlns:dashif="https://dashif.org/CPS">https://licenses/1</dashif:Laurl></ContentProtection>
            <Representation
            """
        let manifest = try content.text("out.mpd")
            .replacing("<Representation", with: protection, maxReplacements: 1)
        #expect(try content.open(manifest).decodeRest().samples == track.samples)
        #expect(content.fetched.contains("https://licenses/1"))
    }

    @Test("A licensee's provider goes before everything else, and knows the product and its session", StreamTool.needed)
    func licensee() throws {
        final class Keys: LicenseProvider {
            func key(_ request: KeyRequest) throws(MediaError) -> [UInt8] { EncryptedTrack.key }
        }
        let (content, track) = try packaged()
        let contexts = Recorder<LicenseContext>()
        var settings = ServiceSettings(baseURL: "https://service/")
        settings.licenses = { context in
            contexts.record(context)
            return Keys()
        }
        _ = content.source(try content.text("out.mpd"))
        let source = ContentService(
            settings, over: content.service.network, credentials: PackagedContent.NoToken())
        let decoder = try source.open(
            PackagedContent.product, session: PlaybackSession(newID: { "session" }), cancellation: Cancellation(),
            medium: MediumAccess()
        ).decoder
        #expect(try decoder.decodeRest().samples == track.samples)
        #expect(contexts.elements.first?.productId == "42")
        #expect(contexts.elements.first?.streamingSessionId == "session")
    }
}
