import Platform
import PlayerTestSupport
import Testing

@testable import Database
@testable import Fetching
@testable import Offline
@testable import Playback
@testable import Player

@Suite("The rows of the offline engine")
struct OfflineRowsTests {
    private let database: Database
    private let rows: OfflineRows

    init() throws {
        database = try Database.inMemory()
        try database.migrate([Offlining.schema])
        rows = OfflineRows(database)
    }

    private let request = OfflineRequest(audioQuality: .lossless, videoQuality: .high)

    private func add(_ id: Int, priority: Int64 = 0) throws -> Bool {
        try rows.add(ServiceAddress(.track, "\(id)"), "r\(id)", request, priority: priority, isAutomatic: false)
    }

    @Test("No migration uses ALTER TABLE, which the shipped SQLite does not have")
    func alterations() {
        for module in [Player.schema, Offlining.schema, DatabaseCacheIndex.schema] {
            for migration in module.migrations {
                #expect(!migration.script.contains("ALTER"), "\(module.name) \(migration.number)")
            }
        }
    }

    @Test("Downloads come by priority, then by age; those that are paused or have failed do not")
    func order() throws {
        for (id, priority) in [(1, 0), (2, 5), (3, 0), (4, 5), (5, -1)] as [(Int, Int64)] {
            #expect(try add(id, priority: priority))
        }
        #expect(try rows.nextDownloads(limit: 10).map { $0.product.id } == ["2", "4", "1", "3", "5"])
        #expect(try rows.nextDownloads(limit: 2).map { $0.product.id } == ["2", "4"])
        #expect(try rows.setState(.paused, from: [.queued], of: ServiceAddress(.track, "4")) == 1)
        let first = try #require(try rows.download(ServiceAddress(.track, "1")))
        #expect(try rows.fail(first, "why", at: 1000))
        #expect(try rows.nextDownloads(limit: 10).map { $0.product.id } == ["2", "3", "5"])
        #expect(try rows.download(ServiceAddress(.track, "1"))?.failure == "why")
        #expect(try !add(4) && add(1))
        #expect(try rows.download(ServiceAddress(.track, "1"))?.failure == nil)
        #expect(try rows.setState(.queued, from: [.paused, .failed], of: nil) == 1)
        #expect(try rows.remove(ServiceAddress(.track, "1")) != nil)
        #expect(try !rows.fail(first, "deleted", at: 1000))
    }

    @Test("That a download begins again after a failure is in its row until something of it is recorded")
    func begunAgain() throws {
        let product = ServiceAddress(.track, "1")
        func isToBeReported() throws -> Bool? { try rows.download(product)?.isToBeReported }
        #expect(try add(1))
        #expect(try isToBeReported() == false)
        for isResumed in [true, false] {
            let download = try #require(try rows.download(product))
            #expect(try rows.fail(download, "why", at: 1000))
            #expect(try isToBeReported() == false)
            if isResumed {
                #expect(try rows.setState(.queued, from: [.paused, .failed], of: nil) == 1)
                // A pause does not change that it failed before.
                #expect(try rows.setState(.paused, from: [.queued], of: nil) == 1)
                #expect(try rows.setState(.queued, from: [.paused], of: nil) == 1)
            } else {
                #expect(try add(1))
            }
            #expect(try isToBeReported() == true)
            #expect(try rows.setProgress(nil, of: download))
            #expect(try isToBeReported() == false)
        }
    }

    @Test("A person's request goes before an automatic download, also when that was chosen first")
    func persons() throws {
        let automatic = Int64(OfflineEngine.priorities.lowerBound - 1)
        for id in [1, 2] {
            let product = ServiceAddress(.track, "\(id)")
            #expect(try rows.add(product, "r", request, priority: automatic, isAutomatic: true))
        }
        #expect(try add(3, priority: -1000))
        #expect(try rows.nextDownloads(limit: 10).map { $0.product.id } == ["3", "1", "2"])
        #expect(try !add(2, priority: 100))
        #expect(try rows.nextDownloads(limit: 10).map { $0.product.id } == ["2", "3", "1"])
        // Asked for again with less, it stays where it is.
        #expect(try !add(2))
        #expect(try rows.nextDownloads(limit: 10).map { $0.product.id } == ["2", "3", "1"])
    }

    @Test("Damaged rows are passed over, and hide none behind them")
    func damagedRows() throws {
        for id in 1...5 { #expect(try add(id)) }
        try database.execute("UPDATE offline_job SET request = 'x' WHERE number < 3")
        #expect(try rows.nextDownloads(limit: 2).map { $0.product.id } == ["3", "4"])
        #expect(try rows.downloads(after: 0, limit: 1).map { $0.product.id } == ["3"])
        // Lists show them, as counts do.
        let downloads = try rows.listedDownloads(after: 0, limit: 2)
        #expect(
            downloads.map { $0.product } == ["tonearm:track/1", "tonearm:track/2"]
                && downloads.allSatisfy { $0.row == nil })
        #expect(try rows.failUnreadableDownloads().map { $0.referenceId } == ["r1", "r2"])
        #expect(try rows.downloadCount() == 3 && rows.failUnreadableDownloads().isEmpty)
        for id in 1...4 { try keep(id, validity: OfflineValidity(revalidateAt: 10 + Int64(id))) }
        try database.execute("UPDATE offline_item SET received = '{' WHERE product <= 'tonearm:track/2'")
        #expect(try rows.items(after: "", limit: 1).map { $0.product.id } == ["3"])
        #expect(try rows.due(100, after: (.min, ""), limit: 2).map { $0.product.id } == ["3", "4"])
        #expect(try rows.listedItems(after: "", limit: 9).map { $0.row == nil } == [true, true, false, false])
        #expect(try rows.remove(ServiceAddress(.track, "1"))?.contents.count == 1)
        #expect(try rows.total() == 3 && rows.itemCount() == 3)
    }

    @Test("A product is due behind the second of its date, the longest overdue first")
    func due() throws {
        for (id, time) in [(1, 30), (2, 10), (3, 20)] as [(Int, Int64)] {
            try keep(id, validity: OfflineValidity(revalidateAt: time))
        }
        try keep(4, validity: OfflineValidity())
        func due(_ time: Int64, after last: (Int64, String) = (.min, "")) throws -> [String] {
            try rows.due(time, after: (last.0, last.1), limit: 8).map { $0.product.id }
        }
        #expect(try due(10) == [])
        #expect(try due(11) == ["2"])
        #expect(try due(31) == ["2", "3", "1"])
        #expect(try due(31, after: (20, "tonearm:track/3")) == ["1"])
    }

    @Test(
        "A copy with an end is due a day before it at the latest",
        arguments: [
            (nil, nil, nil), (5, nil, 5), (nil, 1_000_000, 913_600), (5, 1_000_000, 5), (999_999, 1_000_000, 999_999),
            (1_000_001, 1_000_000, 913_600), (nil, 10, -86_390), (nil, .min, .min),
        ] as [(Int64?, Int64?, Int64?)])
    func dueBeforeEnd(revalidateAt: Int64?, validUntil: Int64?, dueAt: Int64?) throws {
        let validity = OfflineValidity(revalidateAt: revalidateAt, validUntil: validUntil)
        #expect(validity.dueAt == dueAt)
        try keep(1, validity: validity)
        #expect(try rows.item(ServiceAddress(.track, "1"))?.validity.revalidateAt == dueAt)
        // The same by a re-validation.
        try keep(2, validity: OfflineValidity(revalidateAt: 7))
        let item = try #require(try rows.item(ServiceAddress(.track, "2")))
        try rows.validate(item, validity, license: nil)
        let due = dueAt.flatMap { $0 == .max ? nil : $0 + 1 } ?? 7
        #expect(try rows.due(due, after: (.min, ""), limit: 8).count == (dueAt == nil ? 0 : 2))
    }

    @Test("A damaged date behind the end of a copy is put right at the start")
    func damagedDates() throws {
        try keep(1, validity: OfflineValidity(revalidateAt: 5, validUntil: 1_000_000))
        try keep(2, validity: OfflineValidity(revalidateAt: 5, validUntil: 1_000_000))
        for date in ["NULL", "\(1 << 62)", "'x'"] {
            try database.execute("UPDATE offline_item SET revalidate_at = \(date) WHERE product = 'tonearm:track/1'")
            try rows.recount()
            #expect(try rows.due(913_601, after: (.min, ""), limit: 8).map { $0.product.id } == ["2", "1"])
        }
    }

    @Test("The migration makes copies due that were never asked for, and no others")
    func migration() throws {
        let old = try Database.inMemory()
        try old.migrate([SchemaModule("offline", Array(Offlining.schema.migrations.prefix(2)))])
        let table: [(Int64?, Int64?, Int64?)] = [
            (nil, 1_000_000, 913_600), (nil, nil, nil), (5, 1_000_000, 5), (5, nil, 5), (2_000_000, 1_000_000, 913_600),
        ]
        func value(_ number: Int64?) -> DatabaseValue { number.map { .integer($0) } ?? .null }
        for (index, row) in table.enumerated() {
            try old.execute(
                "INSERT INTO offline_item VALUES (?, 'r', 'LOSSLESS HIGH', '{}', x'', x'', x'', NULL, 1, ?, ?, 0, 0, 0,"
                    + " 0)",
                .text("\(index)"), value(row.0), value(row.1))
        }
        try old.migrate([Offlining.schema])
        var statement = try old.prepare("SELECT revalidate_at FROM offline_item ORDER BY product")
        var found: [Int64?] = []
        while try statement.step() { found.append(statement.integer(0)) }
        #expect(found == table.map { $0.2 })
    }

    private func keep(_ id: Int, validity: OfflineValidity) throws {
        let product = ServiceAddress(.track, "\(id)")
        let item = OfflineItem(
            product: product, referenceId: "r", request: request,
            received: .init(product: product, assetPresentation: .full, replayGain: .init()), fingerprint: [1],
            content: [UInt8](repeating: UInt8(id), count: 16), sealedKey: [], count: 1, validity: validity)
        #expect(try rows.keep(item, now: 0) == nil)
    }

    @Test(
        "Frequent queries do not read the whole table",
        arguments: [
            OfflineQueries.item, OfflineQueries.itemsAfter, OfflineQueries.due, OfflineQueries.download,
            OfflineQueries.downloadsAfter, OfflineQueries.nextDownloads, OfflineQueries.contents,
            OfflineQueries.unfinishedContents, OfflineQueries.leastPlayed, OfflineQueries.chosenBytes,
            OfflineQueries.lastPlayed, OfflineQueries.sizes, OfflineQueries.covers,
        ])
    func plans(_ query: String) throws {
        var statement = try database.prepare("EXPLAIN QUERY PLAN \(query)")
        while try statement.step() {
            let step = statement.text(3) ?? ""
            #expect(
                step.hasPrefix("SEARCH") || step.contains("USING INDEX offline_item_automatic")
                    || step.hasPrefix("CORRELATED"), "\(step)")
            #expect(!step.contains("TEMP B-TREE"), "\(step)")
        }
    }
}
