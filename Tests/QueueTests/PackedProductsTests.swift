import Foundation
import Platform
import TestSupport
import Testing

@testable import Player
@testable import Queue

@Suite("Products come into the queue in pages")
struct PackedProductsTests {
    private static func products(_ range: Range<Int>, bytes: Int = 60) -> PackedProducts {
        PackedProducts(
            range.lazy.map { number in
                let name = "/music/\(number).flac"
                return QueuedProduct(.track, name + String(repeating: "x", count: max(0, bytes - name.utf8.count)))
            })
    }

    private func paths(_ queue: PlayQueue) -> [String] { queue.entries(0..<queue.count).map { $0.product.productId } }

    @Test(
        "A page is bounded in products and in bytes, whatever the length of the ids", arguments: [1, 60, 5000, 65_535])
    func bounds(bytes: Int) {
        let products = Self.products(0..<3000, bytes: bytes)
        #expect(products.count == 3000)
        #expect(
            products.pages.allSatisfy {
                $0.count <= ProductPage.countLimit && ($0.byteCount <= ProductPage.textLimit || $0.count == 1)
            })
        // None is smaller than it has to be.
        #expect(
            products.pages.count <= 3000 / min(ProductPage.countLimit, max(1, ProductPage.textLimit / max(bytes, 20)))
                + 1)
    }

    @Test("However many entries come, at most one page is copied", arguments: ["set", "add", "next", "index"])
    func nothingIsCopied(_ place: String) throws {
        var queue = PlayQueue()
        try queue.add(Self.products(0..<1))
        let products = Self.products(1..<PlayQueue.capacity)
        let before = queue.table.pages.count
        switch place {
        case "set": try queue.set(products, random: SystemRandomSource())
        case "add": try queue.add(products)
        case "next": try queue.insertNext(products)
        default: try queue.insert(products, at: 0)
        }
        let pages = queue.table.pages.suffix(products.pages.count)
        #expect(zip(pages, products.pages).filter { !$0.isSameMemory(as: $1) }.isEmpty)
        #expect(queue.table.pages.count == (place == "set" ? 0 : before) + products.pages.count)
        #expect(queue.count == products.count + (place == "set" ? 0 : 1))
    }

    @Test("Pages are no different from the entries one by one", arguments: 0..<20 as Range<UInt64>)
    func model(seed: UInt64) throws {
        var random = SeededRandom(seed)
        var queue = PlayQueue()
        var model: [String] = []
        var number = 0
        for _ in 0..<60 {
            let count = [1, 2, 40, 1024, 1500].randomElement(using: &random)!
            let range = number..<(number + count)
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1:
                number += count
                let bytes = [20, 700].randomElement(using: &random)!
                try queue.add(Self.products(range, bytes: bytes))
                model += paths(try queueOf(Self.products(range, bytes: bytes)))
            case 2:
                number += count
                let place = Int.random(in: 0...model.count, using: &random)
                try queue.insert(Self.products(range), at: place)
                model.insert(contentsOf: paths(try queueOf(Self.products(range))), at: place)
            default:
                // All but a few here and there, or only a few.
                let share = [0.02, 0.5, 0.98].randomElement(using: &random)!
                let places = model.indices.filter { _ in Double.random(in: 0..<1, using: &random) < share }
                queue.remove(places.map { queue.playOrder[$0] })
                for place in places.reversed() { model.remove(at: place) }
            }
            #expect(queue.table.count == model.count && queue.table.ids == queue.originalOrder.sorted())
            #expect(
                zip(queue.table.pages, queue.table.pages.dropFirst()).allSatisfy {
                    !$0.hasRoom(for: $1.count, bytes: $1.byteCount)
                }, "small pages are joined")
        }
        #expect(paths(queue) == model)
        for id in queue.originalOrder { #expect(queue.contains(id)) }
        #expect(!queue.contains(EntryID(0)) && !queue.contains(EntryID(.max)))
        let middle = queue.table.ids.isEmpty ? EntryID(1) : queue.table.ids[queue.count / 2]
        #expect(queue.table.entries(from: middle).map { $0.id } == queue.table.ids.filter { $0 >= middle })
    }

    private func queueOf(_ products: PackedProducts) throws -> PlayQueue {
        var queue = PlayQueue()
        try queue.add(products)
        return queue
    }

    @Test("Ids that take too much memory together are refused: a start could not read all of them")
    func tooManyBytes() throws {
        let products = Self.products(0..<1025, bytes: 65_535)
        var queue = try queueOf(products)
        #expect(throws: PlayQueueError.idsTooLong(limit: 128 << 20)) { try queue.add(products) }
        #expect(queue.count == 1025 && queue.nextNumber == 1026)
    }

    @Test("An id that is too long is refused, and nothing changes")
    func tooLong() throws {
        var queue = try queueOf(Self.products(0..<2))
        let products = Self.products(0..<1, bytes: 65_536)
        #expect(throws: PlayQueueError.productIdTooLong(limit: 65_535)) { try queue.add(products) }
        #expect(queue.count == 2 && queue.nextNumber == 3)
    }
}
