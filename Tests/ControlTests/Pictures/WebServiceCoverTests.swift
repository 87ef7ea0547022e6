import ApplianceTestSupport
import Foundation
import Network
import Platform
import TestSupport
import Testing

@testable import Appliance
@testable import Control
@testable import Player

@Suite("Web: covers of the service's products (docs/web.md)")
struct WebServiceCoverTests {
    /// A service with a catalogue over HTTP, and a daemon that uses it.
    private final class Served {
        let web: WebFixture
        let simulated: SimulatedPictures
        let service: FileServer
        let streaming: StreamingService
        let picture: Locked<[UInt8]>

        /// - Parameter special: of `FileServer`, before the catalogue.
        init(settings: String = "", special: @escaping FileServer.Special = { _, _, _ in false }) throws {
            let picture = Locked(SimulatedPictures.picture(0))
            self.picture = picture
            service = FileServer([:]) { head, number, connection in
                if special(head, number, connection) { return true }
                let path = FileServer.path(of: head)
                switch path {
                case "/v1/tracks/1", "/v1/tracks/2":
                    Self.send(
                        Array("{\"id\":1,\"album\":{\"id\":3,\"title\":\"A\",\"cover\":\"/cover\"}}".utf8), connection)
                case "/v1/albums/3":
                    Self.send(Array("{\"id\":3,\"title\":\"A\",\"cover\":\"/cover\"}".utf8), connection)
                case "/v1/playlists/4": Self.send(Array("{\"id\":4,\"title\":\"P\"}".utf8), connection)
                case "/cover": Self.send(picture.value, connection)
                default: return false
                }
                return true
            }
            let streamed = StreamingSettings(service: ServiceSettings(baseURL: service.url("")))
            let clock = TrustedCertificateClock(TrustedClock(store: nil), released: 1_700_000_000)
            streaming = try StreamingService(streamed, clock: clock)
            let streaming = streaming
            web = try WebFixture(
                settings: settings, pictures: "bin/tonearm-pictures", limits: .ofTests,
                covers: StartedCovers { try? streaming.covers(nil, patience: 600_000) })
            simulated = try SimulatedPictures(in: web.folder["bin"])
        }

        static func send(_ body: [UInt8], _ connection: ScriptedConnection) {
            connection.send(Array("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body)
        }

        func end() {
            web.end()
            streaming.stop()
        }

        func cover(_ uri: String, _ size: String? = "160", _ headers: [String] = []) throws -> WebAnswer {
            try web.get("/api/cover?uri=\(uri)" + (size.map { "&size=\($0)" } ?? ""), headers)
        }

        /// The paths of the requests to the service so far.
        var paths: [String] { service.requests.elements.map { FileServer.path(of: $0) } }
    }

    @Test(
        "It comes in each size and whole, as covers of the library do; kept ones are there after a restart without it")
    func sizes() throws {
        let served = try Served()
        defer { served.end() }
        for side in [160, 160, 64] {
            let answer = try served.cover("tonearm:track/1", "\(side)")
            #expect(answer.status == 200 && answer.body == SimulatedPictures.thumbnail(side), "\(answer.text)")
            #expect(answer.headers["content-type"] == "image/jpeg" && answer.headers["tonearm-width"] == "\(side)")
            #expect(answer.headers["cache-control"] == "private, max-age=600")
            let tag = try #require(answer.headers["etag"])
            #expect(try served.cover("tonearm:track/1", "\(side)", ["If-None-Match: \(tag)"]).status == 304)
        }
        // The second one is kept.
        #expect(served.paths == ["/v1/tracks/1", "/cover", "/v1/tracks/1", "/cover"])
        let whole = try served.cover("tonearm:album/3", nil)
        #expect(whole.status == 200 && whole.body == served.picture.value)
        #expect(whole.headers["content-type"] == "image/jpeg" && whole.headers["etag"] != nil)
        let requests = served.simulated.requests
        #expect(requests.map(\.side) == [160, 64] && requests.allSatisfy { $0.offset == 0 && $0.length == 104 })
        // The same picture of another product is not made again.
        #expect(try served.cover("tonearm:track/2", "64").status == 200)
        #expect(served.simulated.requests.count == 2)
        served.streaming.stop()
        served.web.end()
        try served.web.start()
        #expect(try served.cover("tonearm:track/1", "64").body == SimulatedPictures.thumbnail(64))
        #expect(try served.cover("tonearm:track/2", "64").body == SimulatedPictures.thumbnail(64))
        let other = try served.cover("tonearm:track/1", "320")
        #expect(other.status == 503 && other.code == "system" && other.headers["retry-after"] == "5", "\(other.text)")
    }

    @Test("Ten clients at once cause one fetch")
    func atOnce() throws {
        let gate = DispatchSemaphore(value: 0)
        let served = try Served { head, _, _ in
            if FileServer.path(of: head) == "/cover" { gate.waitOrEndRun("the clients") }
            return false
        }
        defer { served.end() }
        let exchanges = try (1...10).map { _ in
            try WebExchange(served.web.port, "GET", "/api/cover?uri=tonearm:track/1&size=160", ["Connection: close"])
        }
        expectSoon("the request") { served.paths.count == 2 }
        gate.signal()
        for exchange in exchanges { #expect(try exchange.whole().body == SimulatedPictures.thumbnail(160)) }
        #expect(served.paths == ["/v1/tracks/1", "/cover"] && served.simulated.requests.count == 1)
    }

    @Test("An answer that is no cover is refused with a reason, and not asked for again")
    func refusals() throws {
        let served = try Served { head, _, connection in
            switch FileServer.path(of: head) {
            case "/v1/albums/1": Served.send(Array("{\"id\":1,\"cover\":\"/text\"}".utf8), connection)
            case "/v1/albums/2": Served.send(Array("{\"id\":1,\"cover\":\"/huge\"}".utf8), connection)
            case "/v1/albums/5": connection.send("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")
            case "/text": Served.send(Array("<html>".utf8), connection)
            case "/huge": connection.send("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n")
            default: return false
            }
            return true
        }
        defer { served.end() }
        for (uri, status, code, reason) in [
            ("tonearm:album/1", 422, "bad-cover", "JPEG, PNG or WebP"), ("tonearm:album/2", 422, "bad-cover", "8 MiB"),
            ("tonearm:album/5", 503, "system", "503"), ("tonearm:album/9", 404, "no-cover", "no cover"),
            ("tonearm:playlist/4", 404, "no-cover", "no cover"),
        ] {
            let count = served.paths.count
            for size in ["160", "64", nil] {
                let answer = try served.cover(uri, size)
                #expect(answer.status == status && answer.code == code, "\(uri): \(answer.text)")
                #expect(answer.json["error"]?["message"]?.string?.contains(reason) == true, "\(answer.text)")
            }
            #expect(served.paths.count - count == (code == "bad-cover" ? 2 : 1), "\(uri)")
        }
        // One that the program refuses is tried once, too.
        served.picture.withLock { $0 = SimulatedPictures.picture(2) }
        for size in ["160", "160", "64"] { #expect(try served.cover("tonearm:track/1", size).status == 422) }
        #expect(served.simulated.requests.count == 1)
    }

    @Test("Requests that name no product are refused, and nothing is asked of the service")
    func mistakes() throws {
        let served = try Served()
        defer { served.end() }
        for uri in ["", "tonearm:video/1", "tonearm:track/", "/etc/passwd", "http://example.org/a.jpg"] {
            #expect(try served.cover(uri).code == "bad-request", "\(uri)")
        }
        #expect(try served.cover("tonearm:track/1", "65").code == "bad-request")
        #expect(try served.web.get("/api/cover?uri=tonearm:track/1&path=/a").code == "bad-request")
        #expect(served.paths.isEmpty)
    }

    @Test("A daemon without a service has no covers of its products")
    func none() throws {
        let web = try WebFixture()
        defer { web.end() }
        #expect(try web.get("/api/cover?uri=tonearm:track/1").code == "no-cover")
    }
}
