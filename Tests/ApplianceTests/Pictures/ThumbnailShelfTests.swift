import ApplianceTestSupport
import TestSupport
import Testing

@testable import Appliance

@Suite("Thumbnails: which ones a folder keeps (docs/decisions/pictures.md)")
struct ThumbnailShelfTests {
    private func key(_ number: UInt64, _ side: Int = 160) -> ThumbnailKey {
        ThumbnailKey(picture: PictureIdentity(high: number, low: ~number), side: side)
    }

    private func entry(_ number: UInt64, bytes: Int = 4096, side: Int = 160) throws -> ThumbnailShelf.Entry {
        let jpeg = [0xFF, 0xD8] + [UInt8](repeating: 1, count: bytes - 4) + [0xFF, 0xD9]
        return ThumbnailShelf.Entry(
            key(number, side), try #require(Thumbnail(width: 60, height: 41, bytes: jpeg, side: side)))
    }

    @Test("A name has the whole entry")
    func names() throws {
        let entry = try entry(0x0123_4567_89AB_CDEF, bytes: 5123)
        #expect(entry.name.hasPrefix("0123456789abcdeffedcba9876543210-160-60-41-5123-"))
        #expect(ThumbnailShelf.Entry(name: entry.name) == entry)
    }

    @Test(
        "Another name is none",
        arguments: [
            "", "-", "-----", "key", ".tonearm-0123456789abcdef.new", "cover.jpg",
            "0123456789abcdeffedcba9876543210-160-60-41-5123", "0123456789abcdeffedcba9876543210-160-60-41-5123-1-1",
            "0123456789ABCDEFFEDCBA9876543210-160-60-41-5123-1", "0123456789abcdeffedcba987654321-160-60-41-5123-1",
            "0123456789abcdeffedcba9876543210-161-60-41-5123-1", "0123456789abcdeffedcba9876543210-160-060-41-5123-1",
            "0123456789abcdeffedcba9876543210-160-60-41-+5123-1", "0123456789abcdeffedcba9876543210-160--60-41-5123-1",
            "0123456789abcdeffedcba9876543210-160-60-41-5123-4294967296",
            "0123456789abcdeffedcba9876543210-160-60-41-9999999999999999999999-1",
        ])
    func foreignNames(name: String) { #expect(ThumbnailShelf.Entry(name: name) == nil) }

    @Test("The one that was used least recently goes first")
    func order() throws {
        var shelf = ThumbnailShelf(limit: 3 * 4096)
        let entries = try (1...5).map { try entry($0) }
        for entry in entries[..<3] { #expect(shelf.add(entry) == []) }
        #expect(shelf.use(key(1)) == entries[0] && shelf.use(key(9)) == nil)
        #expect(shelf.add(entries[3]) == [entries[1]])
        #expect(shelf.use(key(2)) == nil)
        #expect(shelf.add(entries[4]) == [entries[2]])
        #expect(shelf.all == [entries[0], entries[3], entries[4]])
    }

    @Test("Whole blocks of the medium count, and a large one displaces several")
    func budget() throws {
        var shelf = ThumbnailShelf(limit: 3 * 4096 + 4095)
        for number in 1...3 { #expect(shelf.add(try entry(UInt64(number), bytes: 100)) == []) }
        #expect(shelf.total == 3 * 4096)
        let large = try entry(4, bytes: 4097)
        #expect(shelf.add(large) == [try entry(1, bytes: 100), try entry(2, bytes: 100)])
        #expect(shelf.total == 3 * 4096)
        // One that never fits is removed itself, and displaces none.
        let huge = try entry(5, bytes: 4 * 4096)
        #expect(shelf.add(huge) == [huge] && shelf.all.count == 2)
        #expect(shelf.remove(large.key) == large && shelf.total == 4096)
        var none = ThumbnailShelf(limit: 0)
        #expect(none.add(large) == [large] && none.total == 0)
    }

    @Test("Another file of the same thumbnail replaces the former one; each size is a thumbnail of its own")
    func replacement() throws {
        var shelf = ThumbnailShelf(limit: 1 << 20)
        let former = try entry(1, bytes: 100)
        #expect(shelf.add(former) == [] && shelf.add(former) == [] && shelf.total == 4096)
        #expect(shelf.add(try entry(1, bytes: 200)) == [former])
        #expect(shelf.add(try entry(1, side: 64)) == [] && shelf.all.count == 2)
    }
}
