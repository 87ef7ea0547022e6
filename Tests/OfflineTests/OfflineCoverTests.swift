import Crypto
import Database
import Foundation
import OfflineTestSupport
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Offline
@testable import Playback
@testable import Player
@testable import Streaming

@Suite("The covers of offline copies (docs/playback.md, 16.12)", .serialized)
struct OfflineCoverTests {
    private let folder: ScratchFolder
    private let service = OfflineTestService()
    private let file: [UInt8]

    init() throws {
        folder = try ScratchFolder()
        file = try Track("a", frames: 50_000, in: folder).file
        for id in ["7", "8"] { service.serve(file, as: id) }
    }

    private static func picture(_ byte: UInt8) throws -> FetchedPicture {
        let answer = try CoverAnswer()
        let bytes = [0xFF, 0xD8, 0xFF] + [UInt8](repeating: byte, count: 97)
        bytes.withUnsafeBytes { _ = answer.received($0) }
        answer.ended(nil)
        return try #require(try FetchedPicture(answer))
    }

    private static func entry(_ id: Int) throws -> CatalogueEntry {
        try #require(CatalogueEntry("tonearm:track/\(id)"))
    }

    private func total(_ offline: OfflineFixture) -> Int64? {
        offline.store.waitToRead { (rows) throws(DatabaseError) in try rows.total() }
    }

    /// Lets a start check the files, and waits until it has seen all of them.
    private func sweep(_ offline: OfflineFixture) throws {
        let stray = offline.store.path(of: [UInt8](repeating: 0xFF, count: 16))
        try FileManager.default.createDirectory(
            atPath: Folder.containing(stray), withIntermediateDirectories: true)
        try Data([1]).write(to: URL(fileURLWithPath: stray))
        ContentSweep(offline.store, report: { _ in }).start()
        expectSoon("the end of the sweep") { FileKind(at: stray) == nil }
    }

    @Test("Copies share a cover: it is counted once, survives a restart, and goes with the last of them")
    func shared() throws {
        let (size, picture) = (Int64(file.count), try Self.picture(1))
        let state: ScratchFolder
        do {
            let offline = try OfflineFixture(service)
            state = offline.folder
            let covers = offline.engine.offlining.covers
            for id in [7, 8] {
                #expect(try covers.path(of: Self.entry(id)) == nil)
                try offline.keep(id)
                covers.keep(picture, of: try Self.entry(id))
            }
            #expect(total(offline) == 2 * size + 100)
        }
        let offline = try OfflineFixture(in: state, service)
        let covers = offline.engine.offlining.covers
        try sweep(offline)
        let path = try #require(covers.path(of: try Self.entry(7)))
        #expect(try covers.path(of: Self.entry(8)) == path)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)).count == 100)
        let recounted = offline.store.waitToRead { (rows) throws(DatabaseError) in
            try rows.recount()
            return try rows.total()
        }
        #expect(recounted == 2 * size + 100)
        #expect(offline.engine.deleteOffline(OfflineFixture.product(7)))
        #expect(try covers.path(of: Self.entry(7)) == nil && covers.path(of: Self.entry(8)) == path)
        #expect(total(offline) == size + 100)
        #expect(offline.engine.deleteOffline(OfflineFixture.product(8)))
        expectSoon("the removal of the cover") { FileKind(at: path) == nil }
        #expect(total(offline) == 0)
    }

    @Test("Another picture replaces the cover; a lost file is written again; all are removed with the copies")
    func replaced() throws {
        let offline = try OfflineFixture(service)
        let covers = offline.engine.offlining.covers
        try offline.keep(7)
        covers.keep(try Self.picture(1), of: try Self.entry(7))
        let former = try #require(covers.path(of: try Self.entry(7)))
        covers.keep(try Self.picture(2), of: try Self.entry(7))
        let path = try #require(covers.path(of: try Self.entry(7)))
        #expect(path != former && FileKind(at: former) == nil && total(offline) == Int64(file.count) + 100)
        try Data([1, 2]).write(to: URL(fileURLWithPath: path))
        #expect(try covers.path(of: Self.entry(7)) == nil)
        covers.keep(try Self.picture(2), of: try Self.entry(7))
        #expect(try covers.path(of: Self.entry(7)) == path && total(offline) == Int64(file.count) + 100)
        #expect(offline.engine.deleteAllOfflines())
        expectSoon("the removal of the cover") { FileKind(at: path) == nil }
        #expect(total(offline) == 0)
    }

    @Test("No copy, no cover; no room, no cover; a row without its copy does not count")
    func none() throws {
        let size = Int64(file.count)
        let offline = try OfflineFixture(service) { $0.limits.bytes = size + 99 }
        let covers = offline.engine.offlining.covers
        covers.keep(try Self.picture(1), of: try Self.entry(7))
        #expect(offline.files.isEmpty)
        try offline.keep(7)
        covers.keep(try Self.picture(1), of: try Self.entry(7))
        #expect(try covers.path(of: Self.entry(7)) == nil && offline.files.count == 1 && total(offline) == size)
        let recounted = offline.store.waitToRead { (rows) throws(DatabaseError) in
            try rows.database.execute("INSERT INTO offline_cover VALUES ('tonearm:track/9', x'00', 5)")
            try rows.recount()
            return try rows.total()
        }
        #expect(recounted == size)
    }
}
