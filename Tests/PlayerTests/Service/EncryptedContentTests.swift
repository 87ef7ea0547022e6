import Crypto
import Foundation
import Network
import Platform
import TestSupport
import Testing

@testable import Player

@Suite("Encrypted products of a content service")
struct EncryptedContentTests {
    private let folder: ScratchFolder
    private let track: Track
    private let service = ScriptedService()

    private static let key = [UInt8](1...16)

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
        func token(insteadOf rejected: String?, cancellation: Cancellation) -> String? { nil }
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

    private var file: [UInt8] {
        get throws { [UInt8](try Data(contentsOf: URL(fileURLWithPath: track.product.productId))) }
    }

    /// The track in MP4, encrypted by ffmpeg.
    private func encryptedFile() throws -> [UInt8] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/ffmpeg")
        process.arguments = [
            "-loglevel", "error", "-y", "-i", track.product.productId, "-c:a", "flac", "-strict", "-2",
            "-encryption_scheme", "cenc-aes-ctr", "-encryption_key", hexadecimal(Self.key),
            "-encryption_kid", hexadecimal([UInt8](repeating: 0, count: 16)), "\(folder.path)/encrypted.mp4",
        ]
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(folder.path)/encrypted.mp4")))
    }

    @Test("HLS, AES-128: the key is fetched once, and the vector is the segment's number")
    func wholeSegments() throws {
        let plain = try file
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
}
