import CLinux
import Media
import Network
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Fetching
@testable import Offline
@testable import Playback
@testable import Player
@testable import Streaming

@Suite("Servers that answer in place of the service (docs/playback.md, 15.15)")
struct ForeignAnswerTests {
    private static let html = "text/html; charset=utf-8"

    @Test(
        "A web page is known by its first bytes",
        arguments: [
            (nil, "<!DOCTYPE html><title>Welcome", true), (nil, " \r\n<HTML lang=de>", true),
            (nil, "\u{FEFF}<!doctype HTML>", true), (html, "<?xml version=\"1.0\"?><!DOCTYPE x><html>", true),
            ("Application/XHTML+xml", "<?xml version=\"1.0\"?>\n<html xmlns=\"x\">", true),
            (html, "<script>location='/login'</script><html>", true),
            (html, "<head><meta http-equiv=refresh content=0>", true), (html, "<", true),
            // Labelled wrongly by a server, and no page.
            (html, "fLaC", false), (html, "#EXTM3U\n", false), (html, "<?xml version=\"1.0\"?><MPD>", false),
            (html, "{\"manifest\": 1}", false), (html, "", false), (nil, "<htm", false), (nil, "fLaC<html>", false),
        ] as [(String?, String, Bool)])
    func pages(type: String?, text: String, isPage: Bool) {
        let headers = type.map { [HeaderField("Content-Type", $0)] } ?? []
        let head = ResponseHead(status: 200, headers: headers, effectiveURL: "u")
        let found = Array(text.utf8).withUnsafeBytes { WebPage.isMeant(by: head, $0) }
        #expect(found == isPage)
    }

    private static let product = MediaProduct(productType: .track, productId: "tonearm:track/7", referenceId: "r")

    private static func refusal(_ status: Int, _ body: String) -> ResourceFailure {
        .refused(ServiceRefusal(status: status, body: Array(body.utf8)))
    }

    @Test(
        "How far a failure reaches, of a playbackinfo and of content",
        arguments: [
            (refusal(404, "{\"status\": 404}"), .product, .product),
            (refusal(403, "{\"status\": 403, \"subStatus\": 4033}"), .product, .product),
            (refusal(404, "nginx"), .service, .content), (refusal(403, "{}"), .service, .content),
            (refusal(410, "<?xml"), .service, .content), (refusal(401, ""), .service, .service),
            (refusal(302, ""), .service, .service), (refusal(200, "<html>"), .service, .service),
            (refusal(204, "{\"status\": 204}"), .service, .service),
            (refusal(201, "{\"subStatus\": 4010}"), .service, .service),
            (refusal(429, ""), .service, .service), (refusal(502, "<html>"), .service, .service),
            (refusal(503, "{\"status\": 503}"), .service, .service),
            (.transfer(.nameResolution), .service, .service), (.transfer(.tls(.expired)), .service, .service),
            (.transfer(.tls(.pin)), .service, .service), (.transfer(.proxy(status: 407)), .service, .service),
            (.transfer(.malformedAnswer), .service, .service), (.transfer(.headTooLarge), .service, .service),
            (.transfer(.redirect(.tooMany)), .service, .service),
            (.transfer(.redirect(.insecure)), .service, .service),
            (.transfer(.library(code: 2, reason: "x")), .service, .service),
            // The address that a manifest has is the product's.
            (.transfer(.invalidRequest(.url)), .product, .product), (.changed, .product, .product),
            (.tooLarge, .product, .product),
        ] as [(ResourceFailure, PlayerError.Reach, PlayerError.Reach)])
    func reaches(failure: ResourceFailure, info: PlayerError.Reach, content: PlayerError.Reach) {
        #expect(PlayerError(failure, Self.product).reach == info)
        #expect(PlayerError(.source(failure.byteSourceError), Self.product).reach == content)
        #expect(OfflineFailure.media(.source(failure.byteSourceError)).error(Self.product)?.reach == content)
    }

    @Test("Content that decodes to nothing is an error of the product; text in place of music is not")
    func ofProduct() {
        for error in [
            MediaError.notAudio(looksLike: nil), .notAudio(looksLike: "JPEG"), .damaged(what: "x"), .missingKey(id: []),
        ] {
            #expect(PlayerError(error, Self.product).reach == .product)
        }
        let file = MediaProduct(productType: .track, productId: "/a.flac", referenceId: "r")
        for error in [
            MediaError.notAudio(looksLike: "HTML"), .notAudio(looksLike: "text"), .empty, .license(reason: "no JSON"),
        ] {
            #expect(PlayerError(error, Self.product).reach == .service)
            #expect(PlayerError(error, file).reach == .product)
        }
        #expect(PlayerError(PlaybackInfo.Malformed(field: "manifest"), Self.product).reach == .product)
        #expect(PlayerError(PlaybackInfo.Malformed(field: "json"), Self.product).reach == .service)
        #expect(PlayerError(.notAllowed, code: "a3", message: "").reach == .product)
        let reaches: [(Int32, PlayerError.Reach)] = [
            (ENOENT, .product), (EMFILE, .machine), (ENFILE, .machine), (EAGAIN, .machine),
        ]
        for (code, reach) in reaches {
            let error = SystemError(code: code, operation: "open")
            #expect(PlayerError(error, Self.product).reach == reach)
            #expect(PlayerError(.source(.medium(error)), Self.product).reach == reach)
        }
    }

    @Test("A page in place of content ends the transfer at its first bytes, and not one reaches the receiver")
    func transfer() {
        let (network, received) = (ScriptedNetwork(), RecordedResource())
        let transfer = ResourceTransfer(TransferRequest(url: "u"), over: network, into: received)
        network.last.begin(200, [("Content-Length", "1000")])
        network.last.deliver(Array("<html><body>Log in".utf8))
        #expect(received.ends == [.refused(ServiceRefusal(status: 200))])
        #expect(received.bytes.isEmpty)
        withExtendedLifetime(transfer) {}
    }
}
