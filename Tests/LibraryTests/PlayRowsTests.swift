import Database
import TestSupport
import Testing

@testable import Library

@Suite("Play counts")
struct PlayRowsTests {
    private let database: Database
    private var rows: PlayRows { PlayRows(database) }

    init() throws {
        database = try Database.inMemory()
        try database.migrate([PlayRows.schema])
    }

    @Test("Plays are counted, with the time of the last one; a clock that went back does not change it")
    func plays() throws {
        #expect(try rows.count(of: 7) == nil)
        try rows.add(7, at: 100)
        try rows.add(-8, at: 150)
        try rows.add(7, at: 90)
        #expect(try rows.count(of: 7) == PlayCount(content: 7, count: 2, last: 100))
        #expect(try rows.last(limit: 5).map(\.content) == [-8, 7])
        #expect(try rows.last(limit: 1).map(\.content) == [-8])
    }

    private var favourites: FavouriteRows { FavouriteRows(database) }
    private var history: HistoryRows { HistoryRows(database) }
    private let all = ListPage(limit: 2000)

    @Test("A favourite is one without a play, too; one that is none any more and was never heard has no row")
    func favourite() throws {
        try favourites.set(true, Favourite(key: 3, address: "/a"), at: 7)
        #expect(try rows.count(of: 3) == PlayCount(content: 3, count: 0, last: 0, isFavourite: true))
        #expect(try rows.last(limit: 5).isEmpty && favourites.contains(3))
        try rows.add(3, at: 5)
        #expect(try rows.count(of: 3) == PlayCount(content: 3, count: 1, last: 5, isFavourite: true))
        try favourites.set(false, Favourite(key: 3, address: "/a"), at: 8)
        #expect(try rows.count(of: 3)?.isFavourite == false && !favourites.contains(3))
        let product = Favourite(key: FavouriteRows.key(of: "tonearm:track/7"), address: "tonearm:track/7")
        try favourites.set(true, product, at: 9)
        #expect(try favourites.page(all) == ListPart(total: 1, entries: [product]))
        try favourites.set(false, product, at: 9)
        #expect(try rows.count(of: product.key) == nil && favourites.count == 0)
    }

    @Test("Favourites are listed by the time at which they became one, the latest first, a page at a time")
    func favouriteOrder() throws {
        for (key, time) in [(1, 30), (2, 10), (3, 20), (2, 99)] as [(Int64, Int64)] {
            try favourites.set(true, Favourite(key: key, address: "/\(key)"), at: time)
        }
        #expect(try favourites.page(all).entries.map(\.key) == [1, 3, 2])
        let part = try favourites.page(ListPage(limit: 1, offset: 1))
        #expect(part == ListPart(total: 3, entries: [Favourite(key: 3, address: "/3")]))
        #expect(try Set(favourites.keys()) == [1, 2, 3])
    }

    @Test("The history has the newest 1,000 plays in their order, whatever the clock says; counts have all")
    func historyOfPlays() throws {
        try database.transaction { () throws(DatabaseError) in
            for number in 0..<1010 as Range<Int64> {
                try rows.record(number % 2 == 0 ? 7 : nil, "/\(number)", at: 5000 - number)
            }
        }
        let page = try history.page(all)
        #expect(page.total == 1000 && page.entries.count == 1000)
        #expect(page.entries.first == HeardMusic(content: nil, address: "/1009", time: 3991))
        #expect(page.entries.last == HeardMusic(content: 7, address: "/10", time: 4990))
        #expect(try history.page(ListPage(limit: 2, offset: 1)).entries.map(\.address) == ["/1008", "/1007"])
        #expect(try rows.count(of: 7)?.count == 505)
    }

    @Test("A row follows its file to another content, and joins the row that is there")
    func moves() throws {
        try rows.record(1, "/a", at: 10)
        try favourites.set(true, Favourite(key: 1, address: "/a"), at: 10)
        try rows.record(2, "/b", at: 20)
        try rows.move([
            ContentChange(former: 1, present: 2), ContentChange(former: 2, present: 3),
            ContentChange(former: 9, present: 8),
        ])
        #expect(try rows.count(of: 3) == PlayCount(content: 3, count: 2, last: 20, isFavourite: true))
        #expect(try history.page(all).entries.map(\.content) == [3, 3])
        #expect(try favourites.page(all).entries == [Favourite(key: 3, address: "/a")])
        #expect(try rows.count(of: 1) == nil && rows.count(of: 2) == nil && rows.count(of: 8) == nil)
    }
}
