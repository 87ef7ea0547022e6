import Foundation
import Media
import Network
import Platform
import PlayerTestSupport
import Testing

@testable import Account
@testable import Playback
@testable import Player
@testable import Streaming

@Suite("The space of content in the cache")
struct ContentSpaceTests {
    private let settings = ServiceSettings(baseURL: "https://music.example/v")

    private func info(
        id: Int = 1, hash: String? = "h", quality: String = "LOSSLESS", presentation: String = "FULL"
    ) throws -> PlaybackInfo {
        let hash = hash.map { ", \"manifestHash\": \"\($0)\"" } ?? ""
        let text = """
            {"trackId": \(id), "assetPresentation": "\(presentation)", "audioMode": "STEREO",
             "audioQuality": "\(quality)", "manifestMimeType": "application/vnd.tidal.bts", "manifest": "e30="\(hash)}
            """
        return try PlaybackInfo(parsing: Array(text.utf8), .track)
    }

    @Test("It is another one of another product, version or service, and the same with another signature")
    func differs() throws {
        let one = ContentSpace(try info(), of: settings)
        #expect(ContentSpace(try info(quality: "HIGH"), of: settings) == one, "the hash says that it is the same")
        #expect(ContentSpace(try info(), of: ServiceSettings(baseURL: "http://music.example:8080/v")) == one)
        for other in [
            ContentSpace(try info(id: 2), of: settings), ContentSpace(try info(hash: "i"), of: settings),
            ContentSpace(try info(), of: ServiceSettings(baseURL: "https://other.example/v")),
            ContentSpace(try info(), of: ServiceSettings(baseURL: "https://music.example/w")),
        ] {
            #expect(other != one)
        }
        let none = ContentSpace(try info(hash: nil), of: settings)
        #expect(ContentSpace(try info(hash: nil), of: settings) == none)
        #expect(ContentSpace(try info(hash: nil, quality: "HIGH"), of: settings) != none)
        #expect(ContentSpace(try info(hash: nil, presentation: "PREVIEW"), of: settings) != none)
        #expect(ContentSpace(try info(id: 2, hash: nil), of: settings) != none)
    }

    /// The keys for the requests of a product, by the queries of their addresses.
    private func keys(_ manifest: String, _ type: String = "application/dash+xml", id: Int = 1) throws -> [CacheKey] {
        let service = ScriptedService()
        let encoded = Data(manifest.utf8).base64EncodedString()
        service.playbackinfo = { _, _ in
            (
                200,
                """
                {"trackId": \(id), "assetPresentation": "FULL", "audioMode": "STEREO", "audioQuality": "LOSSLESS",
                 "manifestMimeType": "\(type)", "manifest": "\(encoded)"}
                """
            )
        }
        service.content = { _, transfer in transfer.answer(200, [("Content-Length", "0")]) }
        let product = MediaProduct(productType: .track, productId: "tonearm:track/\(id)", referenceId: "r")
        let source = ContentService(
            settings, over: service.network, credentials: StaticCredentials(token: nil))
        _ = try? source.open(
            product, session: PlaybackSession(), cancellation: Cancellation(), medium: MediumAccess())
        return service.contentRequests.compactMap { CacheKey(of: $0) }
    }

    @Test("Resources of a manifest whose addresses differ in the query alone are not one")
    func resources() throws {
        func manifest(signature: Int) -> String {
            """
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" mediaPresentationDuration="PT8S"><Period>
            <AdaptationSet mimeType="audio/mp4" codecs="flac"><Representation id="a" bandwidth="1">
            <SegmentTemplate timescale="1" duration="4" initialization="https://c.example/get?init&amp;s=\(signature)"
            media="https://c.example/get?n=$Number$&amp;s=\(signature)"/>
            </Representation></AdaptationSet></Period></MPD>
            """
        }
        let keys = try keys(manifest(signature: 1))
        // Includes the keys of the second session, which looks for another version.
        #expect(keys.count >= 2 && Set(keys.prefix(2)).count == 2)
        #expect(try self.keys(manifest(signature: 2)).prefix(2) == keys.prefix(2))
        #expect(try self.keys(manifest(signature: 1), id: 2).prefix(2).allSatisfy { !keys.contains($0) })
    }

    @Test("So are the playlists of variants, and files")
    func variants() throws {
        let master = """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=1000,CODECS="flac"
            https://c.example/list?v=1
            #EXT-X-STREAM-INF:BANDWIDTH=2000,CODECS="flac"
            https://c.example/list?v=2
            """
        let keys = try keys(master, "application/vnd.apple.mpegurl")
        #expect(keys.count >= 2 && Set(keys.prefix(2)).count == 2)
        func file(_ id: Int) throws -> CacheKey? {
            let manifest = "{\"mimeType\": \"audio/flac\", \"urls\": [\"https://c.example/get?id=\(id)\"]}"
            return try self.keys(manifest, "application/vnd.tidal.bts", id: id).first
        }
        #expect(try file(1) != file(2) && file(1) == file(1))
    }
}
