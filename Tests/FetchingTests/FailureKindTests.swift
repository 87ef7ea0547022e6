import Foundation
import Media
import Network
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Account
@testable import Fetching
@testable import Offline
@testable import Playback
@testable import Player
@testable import Streaming

@Suite("Other failures are not reported as those of the network (docs/playback.md, 15.4)")
struct FailureKindTests {
    private static let product = MediaProduct(productType: .track, productId: "tonearm:track/7", referenceId: "r")

    @Test(
        "Of each failure of a transfer the error's kind and code, and whether it is repeated",
        arguments: [
            (.nameResolution, .network, "n1", true), (.connection(.refused), .network, "n1", true),
            (.connection(.unreachable), .network, "n1", true), (.connection(.lost), .network, "n1", true),
            (.connection(.system(code: 24)), .network, "n1", true), (.proxy(status: 502), .network, "n1", true),
            (.proxy(status: nil), .network, "n1", true), (.proxy(status: 407), .network, "n1", false),
            (.timeOut(.firstByte), .network, "n1", true),
            (.truncated, .network, "n1", true), (.tls(.handshake(reason: "x")), .network, "n1", true),
            (.tls(.handshake(reason: "x", isFinal: true)), .network, "n1", false),
            (.tls(.unknownAuthority), .network, "n1", false), (.tls(.expired), .network, "n1", false),
            (.tls(.pin), .network, "n1", false), (.malformedAnswer, .unexpected, "n2", false),
            (.headTooLarge, .unexpected, "n2", false), (.redirect(.tooMany), .unexpected, "n2", false),
            (.redirect(.insecure), .unexpected, "n2", false), (.redirect(.address), .unexpected, "n2", false),
            (.invalidRequest(.url), .unexpected, "n2", false),
            (.invalidRequest(.header(name: "x")), .unexpected, "n2", false),
            (.invalidRequest(.range), .unexpected, "n2", false),
            (.library(code: 27, reason: "out of memory"), .unexpected, "n2", false),
            (.tooLarge, .unexpected, "m7", false), (.cancelled, .unexpected, "m5", false),
        ] as [(TransferError, PlayerError.Kind, String, Bool)])
    func kinds(error: TransferError, kind: PlayerError.Kind, code: String, isRepeated: Bool) {
        let failure = ResourceFailure.transfer(error)
        for raised in [
            // The errors of the playbackinfo, of the content, and of a download.
            PlayerError(failure, Self.product), PlayerError(.source(failure.byteSourceError), Self.product),
            OfflineFailure.resource(failure).error(Self.product),
        ] {
            #expect(raised?.kind == kind && raised?.code == code)
            #expect(raised?.mediaProduct == Self.product)
        }
        #expect(error.isOfNetwork == isRepeated)
        if code == "n2" { #expect(!MediaError.source(failure.byteSourceError).isWorthRestarting) }
    }

    private func error(of service: ContentService) throws -> PlayerError? {
        #expect(throws: PlayerError.self) {
            try service.open(
                Self.product, session: PlaybackSession(), cancellation: Cancellation(), medium: MediumAccess())
        }
    }

    @Test(
        "A peer that breaks HTTP, over TCP: one error, and it is not asked again and again",
        arguments: [
            ("HTTP/1.1 700 X\r\nContent-Length: 0\r\n\r\n", 1),
            ("SSH-2.0-OpenSSH\r\n\r\n", 1),
            ("HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", 6),
        ])
    func peer(answer: String, requests: Int) throws {
        let peer = Self.peer(answer)
        let network = try Network(NetworkSettings { 1_800_000_000 })
        defer { network.stop() }
        let settings = ServiceSettings(baseURL: peer.url(""))
        let error = try error(
            of: ContentService(settings, over: network, credentials: StaticCredentials(token: nil)))
        #expect(error?.kind == .unexpected && error?.code == "n2")
        #expect(peer.connectionCount == requests)
    }

    /// A server that answers every request with the same bytes, whatever they are, and closes the connection.
    private static func peer(_ answer: String) -> ScriptedServer {
        ScriptedServer { connection in
            if connection.request() != nil { connection.send(answer) }
        }
    }

    @Test("A manifest with an address that is none")
    func address() throws {
        let network = try Network(NetworkSettings { 1_800_000_000 })
        defer { network.stop() }
        let info = ScriptedService.info(url: "ftp://content/a")
        let peer = Self.peer("HTTP/1.1 200 OK\r\nContent-Length: \(info.utf8.count)\r\n\r\n\(info)")
        let settings = ServiceSettings(baseURL: peer.url(""))
        let error = try error(
            of: ContentService(settings, over: network, credentials: StaticCredentials(token: nil)))
        #expect(error?.kind == .unexpected && error?.code == "n2")
    }
}
