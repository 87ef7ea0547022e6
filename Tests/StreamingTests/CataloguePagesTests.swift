import Foundation
import Network
import Platform
import TestSupport
import Testing

@testable import Account
@testable import Player
@testable import Streaming

@Suite("The pages of an album")
struct CataloguePagesTests {
    private final class Now: CertificateClock {
        func now() -> CertificateTime { CertificateTime(1_800_000_000, isProved: true) }
        func serverProves(_ seconds: Int64) {}
        func serverReports(_ seconds: Int64) {}
    }

    /// The tracks of an album that a player gets.
    /// - Parameter page: the entries from an offset on, and the total that the service claims.
    private func tracks(
        mostRequests: Int = 4, cancellation: Cancellation? = nil,
        _ page: @escaping @Sendable (_ offset: Int) -> ([Int], total: String)
    ) throws -> [String] {
        let requests = Locked(0)
        let server = ScriptedServer { connection in
            while let request = connection.request() {
                requests.withLock { $0 += 1 }
                let offset = request.split(separator: "offset=")[1].prefix { $0.isNumber }
                let (ids, total) = page(Int(offset) ?? 0)
                let items = ids.map { $0 < 0 ? "{}" : "{\"id\": \($0), \"title\": \"t\"}" }.joined(separator: ",")
                let body = "{\"items\": [\(items)]\(total.isEmpty ? "" : ", \"totalNumberOfItems\": \(total)")}"
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            }
        }
        let settings = StreamingSettings(service: ServiceSettings(baseURL: server.url("")))
        let account = try ServiceAccount(settings, clock: Now())
        let list = try #require(CatalogueList("tonearm:album/1"))
        let tracks = try account.tracks(of: list, cancellation: cancellation ?? Cancellation())
        #expect(requests.value <= mostRequests)
        return tracks
    }

    @Test("A list, a search and a login at a port that speaks TLS, by http: the remedy is named", arguments: 0..<3)
    func plain(way: Int) throws {
        let server = ScriptedServer { connection in _ = connection.request() }
        let folder = try ScratchFolder()
        var settings = StreamingSettings(service: ServiceSettings(baseURL: server.url("")))
        settings.loginFolder = folder.path
        let (account, cancellation) = (try ServiceAccount(settings, clock: Now()), try Cancellation())
        var message = ""
        do {
            switch way {
            case 0:
                _ = try account.tracks(of: try #require(CatalogueList("tonearm:album/1")), cancellation: cancellation)
            case 1: _ = try account.search("a", limit: 1, cancellation: cancellation)
            default: try account.logIn(cancellation: cancellation) { _ in }
            }
        } catch let error as PlayerError {
            message = error.message
        } catch LoginFailure.unreachable(let reason) {
            message = reason
        }
        #expect(message.contains("If it speaks TLS, its address begins with https://"), "\(message)")
    }

    private func addresses(_ ids: some Sequence<Int>) -> [String] { ids.map { "tonearm:track/\($0)" } }

    @Test(
        "All of them come, and the pages end, whatever total the service claims",
        arguments: ["450", "1000000000", "0", "-1", "1", "9223372036854775807", "1e300", "\"x\"", ""])
    func total(claim: String) throws {
        let tracks = try tracks { offset in (Array(min(offset, 450)..<min(offset + 200, 450)), claim) }
        #expect(tracks == addresses(0..<450))
    }

    @Test(
        "A list without an end is refused after few answers: of full pages, of short ones, of unusable entries",
        arguments: [(200, false, 51), (50, false, 201), (1, false, 1000), (200, true, 51)])
    func endless(entries: Int, isUnusable: Bool, requests: Int) throws {
        do {
            _ = try tracks(mostRequests: requests) { offset in
                // The total changes, so that no page is like the one before.
                let ids = Array(offset..<(offset + entries)).map { isUnusable ? -1 : $0 }
                return (ids, "\(1_000_000_000 + offset)")
            }
            Issue.record("it ended")
        } catch let error as PlayerError {
            #expect(error.message.contains("does not end") && error.message.contains("tonearm:track/ID"))
        }
    }

    @Test("A list that is as long as a queue comes whole, and a longer one is refused")
    func longest() throws {
        for (count, claim) in [(100_000, "100000"), (100_000, ""), (100_200, "")] {
            let found = try? tracks(mostRequests: 501) { offset in
                (Array(min(offset, count)..<min(offset + 200, count)), claim)
            }
            #expect(found?.count == (count > 100_000 ? nil : count))
        }
    }

    @Test("A list can be cancelled between its answers")
    func cancelled() throws {
        let cancellation = try Cancellation()
        #expect(throws: PlayerError.self) {
            try tracks(cancellation: cancellation) { offset in
                if offset >= 400 { cancellation.cancel() }
                return (Array(offset..<(offset + 200)), "")
            }
        }
    }

    @Test("A service that does not know offsets is asked twice")
    func sameAgain() throws {
        #expect(try tracks { _ in (Array(0..<200), "1000000") } == addresses(0..<200))
        #expect(try tracks { _ in (Array(0..<3), "9") } == addresses(0..<3))
    }

    @Test("Entries that cannot be used count as entries")
    func unusable() throws {
        let tracks = try tracks { offset in
            (Array(offset..<min(offset + 200, 300)).map { $0 % 2 == 0 ? $0 : -1 }, "300")
        }
        #expect(tracks == addresses(stride(from: 0, to: 300, by: 2)))
    }
}
