import Database
import Foundation
import Network
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Fetching
@testable import Player

@Suite("No credential is on the medium (docs/playback.md, 15.7)")
struct CacheSecretTests {
    private static let token = "s3cr3t-t0ken"

    /// The files below a folder that have the token in them.
    private func filesWithToken(_ folder: String) throws -> [String] {
        let names = FileManager.default.enumerator(atPath: folder)?.allObjects as? [String] ?? []
        return try names.filter { name in
            let url = URL(fileURLWithPath: folder).appendingPathComponent(name)
            let isFile = try url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile ?? false
            return try isFile && Data(contentsOf: url).range(of: Data(Self.token.utf8)) != nil
        }
    }

    @Test("An answer that depends on the token is stored and used again, and the token is in no file")
    func varying() throws {
        let (fixture, network) = (try CacheFixture(), PumpedNetwork())
        var request = TransferRequest(url: "https://a.example/v1/tracks/1/playbackinfo?x=1")
        request.headers = [HeaderField("Authorization", "Bearer \(Self.token)")]
        request.cacheScope = .wholeAddress
        let use = CacheUse.recording(mayReadAhead: { false })
        let caching = CachingNetwork(network, fixture.store, use, clock: fixture.clock) {
            SystemRandomSource().bytes(16)
        }
        let sink = CollectingSink()
        let transfer = caching.begin(request, into: sink)
        network.run { network.transfers.count == 1 }
        network.last.begin(
            200, [("Cache-Control", "max-age=60"), ("Vary", "Authorization"), ("Content-Length", "5")])
        network.last.deliver(Array("hello".utf8))
        network.last.end()
        fixture.settle()
        let again = CollectingSink()
        let second = caching.begin(request, into: again)
        network.run { !again.ends.isEmpty }
        #expect(again.bytes == Array("hello".utf8) && network.transfers.count == 1)
        #expect(try filesWithToken(fixture.folder.path) == [])
        withExtendedLifetime((transfer, second)) {}
    }

    @Test("Entries of an earlier version are overwritten")
    func migration() throws {
        let folder = try ScratchFolder()
        let former = SchemaModule("cache", [Migration(1, CacheRows.schema)])
        func open(_ module: SchemaModule) throws -> DatabaseCacheIndex {
            let index = DatabaseCacheIndex(try StorageThread(folder["state.db"], modules: [module]))
            index.recount()
            return index
        }
        try open(former).close()
        do {
            let database = try Database(path: folder["state.db"])
            for number in 0..<200 as Range<UInt8> {
                try database.execute(
                    "INSERT INTO cache_entry VALUES (?, ?, ?, 0, 1, 0, 0)",
                    .bytes([UInt8](repeating: number, count: 32)), .bytes([UInt8](repeating: number, count: 16)),
                    .text("{\"selecting\":[[\"Authorization\",\"Bearer \(Self.token)\"]]}"))
            }
        }
        #expect(try !filesWithToken(folder.path).isEmpty)
        try open(DatabaseCacheIndex.schema).close()
        #expect(try filesWithToken(folder.path) == [])
    }
}
