import Platform
import Testing

@testable import Database
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

    @Test("What ships has an SQLite without ALTER TABLE: no migration uses it")
    func alterations() {
        for module in [Player.schema, Offlining.schema, DatabaseCacheIndex.schema] {
            for migration in module.migrations {
                #expect(!migration.script.contains("ALTER"), "\(module.name) \(migration.number)")
            }
        }
    }

    @Test("Jobs come by priority, then by age; those that are paused or have failed do not")
    func order() throws {
        for (id, priority) in [(1, 0), (2, 5), (3, 0), (4, 5), (5, -1)] as [(Int, Int64)] {
            #expect(try add(id, priority: priority))
        }
        #expect(try rows.nextJobs(limit: 10).map { $0.product.id } == ["2", "4", "1", "3", "5"])
        #expect(try rows.nextJobs(limit: 2).map { $0.product.id } == ["2", "4"])
        #expect(try rows.setState(.paused, from: [.queued], of: ServiceAddress(.track, "4")) == 1)
        let first = try #require(try rows.job(ServiceAddress(.track, "1")))
        #expect(try rows.fail(first, "why", at: 1000))
        #expect(try rows.nextJobs(limit: 10).map { $0.product.id } == ["2", "3", "5"])
        #expect(try rows.job(ServiceAddress(.track, "1"))?.failure == "why")
        #expect(try !add(4) && add(1))
        #expect(try rows.job(ServiceAddress(.track, "1"))?.failure == nil)
        #expect(try rows.setState(.queued, from: [.paused, .failed], of: nil) == 1)
        #expect(try rows.remove(ServiceAddress(.track, "1")) != nil)
        #expect(try !rows.fail(first, "deleted", at: 1000))
    }

    @Test("That a download begins again after a failure is in its row until something of it is recorded")
    func begunAgain() throws {
        let product = ServiceAddress(.track, "1")
        func isToBeTold() throws -> Bool? { try rows.job(product)?.isToBeTold }
        #expect(try add(1))
        #expect(try isToBeTold() == false)
        for isResumed in [true, false] {
            let job = try #require(try rows.job(product))
            #expect(try rows.fail(job, "why", at: 1000))
            #expect(try isToBeTold() == false)
            if isResumed {
                #expect(try rows.setState(.queued, from: [.paused, .failed], of: nil) == 1)
                // A pause does not change that it failed before.
                #expect(try rows.setState(.paused, from: [.queued], of: nil) == 1)
                #expect(try rows.setState(.queued, from: [.paused], of: nil) == 1)
            } else {
                #expect(try add(1))
            }
            #expect(try isToBeTold() == true)
            #expect(try rows.setProgress(nil, of: job))
            #expect(try isToBeTold() == false)
        }
    }

    @Test("What a person asks for goes before what the appliance chose, also when it was chosen first")
    func persons() throws {
        let automatic = Int64(OfflineEngine.priorities.lowerBound - 1)
        for id in [1, 2] {
            let product = ServiceAddress(.track, "\(id)")
            #expect(try rows.add(product, "r", request, priority: automatic, isAutomatic: true))
        }
        #expect(try add(3, priority: -1000))
        #expect(try rows.nextJobs(limit: 10).map { $0.product.id } == ["3", "1", "2"])
        #expect(try !add(2, priority: 100))
        #expect(try rows.nextJobs(limit: 10).map { $0.product.id } == ["2", "3", "1"])
        // Asked for again with less, it stays where it is.
        #expect(try !add(2))
        #expect(try rows.nextJobs(limit: 10).map { $0.product.id } == ["2", "3", "1"])
    }

    @Test("Damaged rows are passed over, and hide none behind them")
    func damagedRows() throws {
        for id in 1...5 { #expect(try add(id)) }
        try database.execute("UPDATE offline_job SET request = 'x' WHERE number < 3")
        #expect(try rows.nextJobs(limit: 2).map { $0.product.id } == ["3", "4"])
        #expect(try rows.jobs(after: 0, limit: 1).map { $0.product.id } == ["3"])
        for id in 1...4 { try keep(id, validity: OfflineValidity(revalidateAt: 10 + Int64(id))) }
        try database.execute("UPDATE offline_item SET received = '{' WHERE product <= 'tonearm:track/2'")
        #expect(try rows.items(after: "", limit: 1).map { $0.product.id } == ["3"])
        #expect(try rows.due(100, after: (.min, ""), limit: 2).map { $0.product.id } == ["3", "4"])
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

    private func keep(_ id: Int, validity: OfflineValidity) throws {
        let product = ServiceAddress(.track, "\(id)")
        let item = OfflineItem(
            product: product, referenceId: "r", request: request,
            received: .init(product: product, assetPresentation: .full, replayGain: .init()), fingerprint: [1],
            content: [UInt8](repeating: UInt8(id), count: 16), sealedKey: [], count: 1, validity: validity)
        #expect(try rows.keep(item, now: 0) == nil)
    }

    @Test(
        "What is asked often does not read the whole table",
        arguments: [
            OfflineQueries.item, OfflineQueries.itemsAfter, OfflineQueries.due, OfflineQueries.job,
            OfflineQueries.jobsAfter, OfflineQueries.nextJobs, OfflineQueries.contents,
            OfflineQueries.unfinishedContents, OfflineQueries.leastPlayed, OfflineQueries.chosenBytes,
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
