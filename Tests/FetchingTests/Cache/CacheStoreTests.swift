import Crypto
import Database
import Foundation
import Network
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Fetching
@testable import Player

@Suite("The store of the cache")
struct CacheStoreTests {
    private static func request(_ number: Int) -> TransferRequest {
        var request = TransferRequest(url: "https://a.example/\(number)")
        request.cacheScope = .path
        return request
    }

    private func store(_ number: Int, count: Int, in fixture: CacheFixture, length: Int64? = nil) throws {
        let head = ResponseHead(
            status: 200, headers: [HeaderField("ETag", "\"\(number)\"")], effectiveURL: Self.request(number).url)
        let now = fixture.clock.now().seconds
        let response = try #require(
            CachedResponse(
                storing: head, of: Self.request(number), body: SystemRandomSource().bytes(16), requested: now,
                received: now))
        let recording = fixture.store.record(response, length: length)
        recording?.append([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: count))
        recording?.end(isComplete: true)
        fixture.settle()
    }

    private func isStored(_ number: Int, in fixture: CacheFixture) -> Bool {
        fixture.stored(Self.request(number)) != nil
    }

    @Test("The least recently used goes first, and the files have at most the limit")
    func leastRecentlyUsed() throws {
        let fixture = try CacheFixture(limit: 35_000)
        for number in 0..<3 {
            fixture.clock.time.seconds += 10_000
            try store(number, count: 10_000, in: fixture)
        }
        fixture.clock.time.seconds += 10_000
        let first = try #require(fixture.stored(Self.request(0)))
        fixture.store.use(first)
        fixture.settle()
        try store(3, count: 10_000, in: fixture)
        #expect((0..<4).map { isStored($0, in: fixture) } == [true, false, true, true])
        #expect(fixture.files.count == 3)
    }

    @Test("A use is noted once an hour")
    func use() throws {
        let fixture = try CacheFixture()
        try store(0, count: 10, in: fixture)
        let start = fixture.clock.time.seconds
        for (after, used) in [(3599, 0), (3600, 3600), (7000, 3600)] as [(Int64, Int64)] {
            fixture.clock.time.seconds = start + after
            fixture.store.use(try #require(fixture.stored(Self.request(0))))
            fixture.settle()
            #expect(fixture.stored(Self.request(0))?.used == start + used)
        }
    }

    @Test("A body of more than half of the limit is not stored, whether its length is known or not")
    func tooLarge() throws {
        let fixture = try CacheFixture(limit: 100_000)
        for length in [60_000, nil] as [Int64?] {
            try store(0, count: 60_000, in: fixture, length: length)
            #expect(!isStored(0, in: fixture) && fixture.files.isEmpty)
        }
        try store(0, count: 50_000, in: fixture)
        #expect(isStored(0, in: fixture))
    }

    @Test("Nothing is written when little space is left, and the older half makes room in one step")
    func fullMedium() throws {
        let roomy = try CacheFixture(limit: 1 << 20)
        try store(0, count: 100, in: roomy)
        #expect(isStored(0, in: roomy))
        let fixture = try CacheFixture(limit: 1 << 20, freeBytes: .max)
        try store(0, count: 100, in: fixture)
        #expect(!isStored(0, in: fixture) && fixture.files.isEmpty)
    }

    @Test("A smaller limit takes effect at the next start, by a bounded number of entries at a time")
    func smallerLimit() throws {
        let fixture = try CacheFixture()
        let count = CacheRows.step + 8
        for number in 0..<count { try store(number, count: 10, in: fixture) }
        try fixture.reopen(limit: 0)
        #expect(fixture.files.count == 8)
        try fixture.reopen(limit: 0)
        #expect(fixture.files.isEmpty)
        try fixture.reopen()
        try store(0, count: 10, in: fixture)
        #expect(isStored(0, in: fixture))
    }

    @Test("A wrong sum of bytes is put right at the next start")
    func recount() throws {
        let fixture = try CacheFixture()
        for number in 0..<3 { try store(number, count: 10_000, in: fixture) }
        fixture.storage.write(answerOn: nil) { (database) throws(DatabaseError) in
            try database.execute("UPDATE cache_total SET bytes = 5")
        } answer: { _ in
        }
        try fixture.reopen()
        try fixture.reopen(limit: 25_000)
        #expect(fixture.files.count == 2)
    }

    @Test("Files that nothing knows are removed at the start, others stay")
    func leftovers() throws {
        let fixture = try CacheFixture()
        try store(0, count: 10, in: fixture)
        let stranger = fixture.folder["bodies/0123456789abcdef0123456789abcdef"]
        try Data([1]).write(to: URL(fileURLWithPath: stranger))
        try fixture.reopen()
        #expect(fixture.files.count == 1 && isStored(0, in: fixture))
    }

    @Test("Another key: what is stored cannot be read, and goes")
    func otherKey() throws {
        let fixture = try CacheFixture()
        try store(0, count: 10, in: fixture)
        let response = try #require(fixture.stored(Self.request(0)))
        var limits = CacheLimits(bytes: 1 << 20)
        limits.freeBytes = 0
        let other = CacheStore(
            fixture.folder["bodies"], fixture.index, limits: limits, key: SecretBytes(randomCount: 32)
        ) { 1_800_000_000 }
        let (condition, answer) = (Condition(), Locked<[UInt8]??>(nil))
        other.body(of: response).read(0) { bytes in condition.update { answer.set(.some(bytes)) } }
        condition.waitOrEndRun("the store") { answer.value != nil }
        #expect(answer.value == .some(nil))
        fixture.settle()
        #expect(!isStored(0, in: fixture) && fixture.files.isEmpty)
    }

    @Test("A key file: made once, private, and replaced when it is none")
    func keyFile() throws {
        let folder = try ScratchFolder()
        func key() throws -> [UInt8] {
            let key = try SecretKeyFile.key(at: folder["key"])
            return key.withUnsafeBytes { Array($0) }
        }
        let first = try key()
        #expect(first.count == 32)
        #expect(try key() == first)
        let mode = try FileManager.default.attributesOfItem(atPath: folder["key"])[.posixPermissions] as? Int
        #expect(mode == 0o600)
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: folder["key"]))
        let second = try key()
        #expect(second.count == 32 && second != first)
    }

    @Test("Cut off at each file call, the next start finds whole bodies, parts that can be continued, or nothing")
    func powerCut() throws {
        let sizes = [150_000, 10, 65_536, 70_000]
        var call = 0
        var isWhole = false
        while !isWhole {
            let folder = try ScratchFolder()
            let run = try WriterProcess.run("cache", folder.path, "\(call)")
            try #require(run.code == 99 || run.code == 0, "call \(call): \(run.errors)")
            isWhole = run.code == 0
            let storage = try StorageThread(folder["state.db"], modules: [DatabaseCacheIndex.schema])
            let bodies = try storage.read { (database) throws(DatabaseError) in
                try (0..<4).map { (number) throws(DatabaseError) -> CachedResponse? in
                    try CacheKey(of: Self.request(number)).flatMap { (key) throws(DatabaseError) in
                        try CacheRows(database).response(key)
                    }
                }
            }
            for (number, response) in (bodies ?? []).enumerated() {
                guard let response else { continue }
                let content = try read(response, folder["bodies"])
                let expected = response.isComplete ? sizes[number] : Int(response.count)
                #expect(content == [UInt8](repeating: UInt8(number), count: expected), "call \(call), body \(number)")
                #expect(response.isComplete || number == 0 && response.count == 65_536)
            }
            let total = try storage.read { (database) throws(DatabaseError) in try CacheRows(database).total() }
            let known = (bodies ?? []).compactMap { $0 }
            let sum = known.reduce(Int64(0)) { $0 + (SealedLayout.sealedCount(of: $1.count) ?? 0) }
            #expect(total ?? 0 == sum && sum <= 330_000, "call \(call)")
            endRunUnlessInTime("the end of a thread") { storage.join() }
            storage.leave()
            call += WriterProcess.cutStride
        }
        #expect(call > 40)
    }

    /// The content, straight from the file.
    private func read(_ response: CachedResponse, _ folder: String) throws -> [UInt8] {
        let path = "\(folder)/\(hexadecimal(response.body))"
        let file = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        var seal = try SealedChunks(
            opening: Array(file.prefix(SealedLayout.headerCount)), identity: response.body,
            key: SecretBytes(copying: CacheFixture.key))
        var content: [UInt8] = []
        while content.count < response.count || response.count == 0 && content.isEmpty {
            let number = Int64(content.count / SealedLayout.chunkCount)
            let offset = Int(SealedLayout.offset(ofChunk: number) ?? 0)
            let count = min(SealedLayout.chunkCount, Int(response.count) - content.count)
            let isLast = response.isComplete && content.count + count == response.count
            content += try seal.open(
                Array(file[offset..<(offset + count + SealedLayout.overhead)]), chunk: number, isLast: isLast)
            if response.count == 0 { break }
        }
        return content
    }
}
