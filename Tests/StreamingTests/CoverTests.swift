import Foundation
import Network
import Platform
import TestSupport
import Testing

@testable import Account
@testable import Streaming

@Suite("Covers of the service's products (docs/service.md, Catalogue)")
struct CoverTests {
    @Test(
        "An entry of the catalogue has an address for users, and one of its description",
        arguments: [
            ("tonearm:track/7", "/v1/tracks/7"), ("tonearm:album/7", "/v1/albums/7"),
            ("tonearm:playlist/a b", nil), ("tonearm:playlist/a%2F/b", "/v1/playlists/a%252F%2Fb"),
            ("tonearm:video/7", nil), ("tonearm:track/", nil), ("track/7", nil), ("", nil), ("/music/a.flac", nil),
            ("tonearm:album/" + String(repeating: "7", count: 257), nil),
        ])
    func entries(text: String, path: String?) {
        let entry = CatalogueEntry(text)
        #expect(entry?.path == path)
        if let entry { #expect(entry.text == text) }
    }

    @Test(
        "The cover of a track is its album's; another type of the field is no cover",
        arguments: [
            ("tonearm:track/1", #"{"album":{"cover":"a"},"cover":"b"}"#, "a"),
            ("tonearm:track/1", #"{"cover":"b"}"#, nil), ("tonearm:album/1", #"{"cover":"b"}"#, "b"),
            ("tonearm:playlist/1", #"{"cover":"b"}"#, "b"), ("tonearm:album/1", #"{"cover":7}"#, nil),
            ("tonearm:track/1", #"{"album":[]}"#, nil), ("tonearm:album/1", #"{"cover":null}"#, nil),
        ])
    func fields(entry: String, description: String, cover: String?) throws {
        let json = try JSONValue.parseForeign(Array(description.utf8))
        #expect(try #require(CatalogueEntry(entry)).cover(in: json) == cover)
    }

    @Test(
        "A reference is absolute or relative to the service's address, and the service alone gets the login",
        arguments: [
            ("https://s/base", "v1/albums/1/cover", "https://s/base/v1/albums/1/cover", true),
            ("https://s/base", "/c.jpg", "https://s/c.jpg", true),
            ("https://s", "c.jpg?size=1", "https://s/c.jpg?size=1", true),
            ("https://s", "https://S:443/c.jpg", "https://S:443/c.jpg", true),
            ("https://s", "https://s:444/c.jpg", "https://s:444/c.jpg", false),
            ("https://s", "https://cdn/c.jpg", "https://cdn/c.jpg", false),
            ("https://s", "//cdn/c.jpg", "https://cdn/c.jpg", false),
            ("http://s", "https://s/c.jpg", "https://s/c.jpg", false),
            ("http://s", "http://s/c d.jpg", "http://s/c%20d.jpg", true),
            // Another scheme, a way out of TLS, a user name, nothing, too long.
            ("https://s", "file:///etc/passwd", nil, false), ("https://s", "data:image/png;base64,AA", nil, false),
            ("https://s", "http://s/c.jpg", nil, false), ("https://s", "https://user@s/c.jpg", nil, false),
            ("https://s", "", nil, false), ("https://s", "/" + String(repeating: "c", count: 2048), nil, false),
        ])
    func addresses(service: String, reference: String, url: String?, isOfService: Bool) {
        let address = CoverAddress(reference, of: ServiceSettings(baseURL: service))
        #expect(address?.url == url && address?.isOfService ?? false == isOfService)
    }

    @Test(
        "Statuses: no cover, or not now",
        arguments: [
            (404, CoverFailure.none), (403, .none), (400, .none), (410, .none),
            (401, .away("the service refuses the login")),
            (408, .away("the server of the cover answers with status 408")),
            (429, .away("the server of the cover answers with status 429")),
            (503, .away("the server of the cover answers with status 503")),
            (304, .away("the server of the cover answers with status 304")),
        ])
    func statuses(status: Int, failure: CoverFailure) {
        #expect(CoverFailure(status: status) == failure)
        #expect(failure.lasts == (failure == .none))
    }

    // MARK: Over HTTP

    private static let picture: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0] + [UInt8](repeating: 7, count: 100_000)

    private static func answer(_ body: [UInt8], _ status: String = "200 OK") -> [UInt8] {
        Array("HTTP/1.1 \(status)\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body
    }

    private static func description(_ cover: String) -> [UInt8] {
        answer(Array("{\"id\":1,\"title\":\"t\",\"cover\":\"\(cover)\"}".utf8))
    }

    private func fetch(
        _ base: String, patience: Int = 60_000, token: String? = nil
    ) throws -> Result<FetchedPicture, CoverFailure> {
        let clock = TrustedCertificateClock(TrustedClock(store: nil), released: 1_700_000_000)
        let network = try Network(StreamingSettings(service: ServiceSettings(baseURL: "https://s")).network(clock))
        defer { network.stop() }
        var transfer = CoverTransfer(
            network, ServiceSettings(baseURL: base), StaticCredentials(token: token), try Cancellation())
        transfer.patience = patience
        let entry = try #require(CatalogueEntry("tonearm:album/1"))
        do throws(CoverFailure) { return .success(try transfer.fetch(entry)) } catch { return .failure(error) }
    }

    @Test("The picture comes with two requests; another server gets no login, also after a redirect")
    func fetches() throws {
        let picture = Self.picture
        let other = FileServer(["/c.jpg": picture])
        let address = other.url("/c.jpg")
        for reference in ["/c.jpg", address, "/redirected"] {
            let service = FileServer(["/c.jpg": picture]) { head, _, connection in
                switch FileServer.path(of: head) {
                case "/v1/albums/1": connection.send(Self.description(reference))
                case "/redirected":
                    connection.send("HTTP/1.1 302 Found\r\nLocation: \(address)\r\nContent-Length: 0\r\n\r\n")
                default: return false
                }
                return true
            }
            let found = try fetch(service.url(""), token: "secret").get()
            #expect(found.read(picture.count + 1, at: 0) == picture && found.kind == .jpeg)
            #expect(found.digest.count == 16 && found.length == picture.count)
            #expect(service.requests.elements.allSatisfy { $0.contains("Authorization: Bearer secret") })
        }
        #expect(other.requests.elements.count == 2)
        #expect(!other.requests.elements.contains { $0.contains("secret") || $0.contains("x-tidal-token") })
    }

    @Test(
        "A hostile, huge, endless or slow answer has a reason",
        arguments: [
            ("text", CoverFailure.unusable("it is not a JPEG, PNG or WebP")),
            ("jxl", .unusable("it is not a JPEG, PNG or WebP")), ("empty", .unusable("it is not a JPEG, PNG or WebP")),
            ("huge", .unusable("it is larger than 8 MiB")), ("endless", .unusable("it is larger than 8 MiB")),
            ("silent", .slow), ("drips", .slow), ("gone", CoverFailure.none), ("no field", CoverFailure.none),
            ("file", CoverFailure.none), ("missing", CoverFailure.none),
            ("page", .away("the answer is not that of a service")),
        ])
    func hostile(kind: String, failure: CoverFailure) throws {
        let service = FileServer([:]) { head, _, connection in
            guard FileServer.path(of: head) == "/c" else {
                switch kind {
                case "no field": connection.send(Self.answer(Array("{\"id\":1}".utf8)))
                case "file": connection.send(Self.description("file:///etc/passwd"))
                case "missing": return false
                case "page": connection.send(Self.answer(Array("<html>".utf8)))
                default: connection.send(Self.description("/c"))
                }
                return true
            }
            switch kind {
            case "text": connection.send(Self.answer(Array("<svg onload=alert(1)>".utf8)))
            case "jxl": connection.send(Self.answer([0xFF, 0x0A, 1, 2]))
            case "empty": connection.send(Self.answer([]))
            case "huge": connection.send("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n")
            case "endless":
                connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
                while connection.send(Self.picture) {}
            case "silent": connection.waitForClose()
            case "drips":
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
                connection.send([0xFF, 0xD8, 0xFF])
                connection.waitForClose()
            default: connection.send(Self.answer([], "410 Gone"))
            }
            return true
        }
        let patience = failure == .slow ? 200 : 60_000
        guard case .failure(let found) = try fetch(service.url(""), patience: patience) else {
            return #expect(Bool(false), "a picture")
        }
        #expect(found == failure)
    }

    @Test("The end of the player does not wait for a cover")
    func cancelled() throws {
        let service = FileServer([:]) { _, _, connection in
            connection.waitForClose()
            return true
        }
        let clock = TrustedCertificateClock(TrustedClock(store: nil), released: 1_700_000_000)
        let network = try Network(StreamingSettings(service: ServiceSettings(baseURL: "https://s")).network(clock))
        defer { network.stop() }
        let cancellation = try Cancellation()
        let transfer = CoverTransfer(
            network, ServiceSettings(baseURL: service.url("")), StaticCredentials(token: nil), cancellation)
        cancellation.cancel()
        let entry = try #require(CatalogueEntry("tonearm:album/1"))
        #expect(throws: CoverFailure.away("the player ends")) { try transfer.fetch(entry) }
    }
}
