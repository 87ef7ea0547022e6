import Testing
import TestSupport

@testable import Database
@testable import Queue
@testable import CutProgram

@Suite("A queue of 10,000 entries")
struct LargeQueueTests {
    static let count = 10_000

    @Test(
        "takes less than 200 bytes an entry, its image of the database included",
        .disabled(if: Sanitizer.isActive, "a sanitizer takes memory for itself"))
    func memory() throws {
        let process = try WriterProcess("queue", "memory", "\(Self.count)")
        let bytes = try #require(Int(process.nextLine() ?? ""))
        #expect(bytes < 200 * Self.count)
        #expect(bytes > 60 * Self.count, "the product ids alone take that")
    }

    @Test("Each operation writes the rows that it is about, wherever it happens", arguments: [false, true])
    func rows(shuffled: Bool) throws {
        var queue = PlayQueue()
        try queue.set(QueuedProduct.files(Self.count), startingAt: 5000, random: QueueWriter.SeededRandom(seed: 5))
        if shuffled { queue.shuffle() }
        var image = QueueImage()
        _ = image.change(to: queue, isPlaying: true)
        func rows(_ operation: (inout PlayQueue) throws -> Void) rethrows -> Int {
            try operation(&queue)
            return image.change(to: queue, isPlaying: true)?.rowCount ?? 0
        }
        let orders = shuffled ? 2 : 1
        #expect(rows { _ in } == 0)
        for index in [0, 1, 4321, Self.count] {
            #expect(try rows { try $0.insert(QueuedProduct.letters("x"), at: index) } == 2 + orders)
            #expect(rows { $0.remove([$0.playOrder[index]]) } == 1 + orders)
        }
        #expect(try rows { try $0.add(QueuedProduct.letters("abc")) } == 4 + 3 * orders)
        #expect(rows { $0.remove(Array($0.playOrder[100..<120]) + [$0.playOrder[9000]]) } == 21 + 21 * orders)
        for (from, to) in [(0, 9000), (9000, 0), (17, 18), (18, 17), (5000, 5002)] {
            #expect(try rows { try $0.move($0.playOrder[from], to: to) } == 2)
        }
        #expect(rows { _ = $0.next() } == 1)
        #expect(rows { _ = $0.previous() } == 1)
        #expect(rows { $0.repeatMode = .all } == 1)
        let removed = queue.playOrder[20]
        #expect(
            try rows {
                $0.remove([removed])
                try $0.insert(QueuedProduct.letters("x"), at: 40)
                try $0.move($0.playOrder[60], to: 80)
            } == (shuffled ? 9 : 7), "several operations are one change")
        #expect(rows { $0.clear() } == (shuffled ? 4 : 3))
    }

    @Test("Repeated insertions at one place rewrite the order only sometimes")
    func renumbering() throws {
        var queue = PlayQueue()
        try queue.set(QueuedProduct.files(1000), random: QueueWriter.SeededRandom(seed: 5))
        var image = QueueImage()
        _ = image.change(to: queue, isPlaying: false)
        var rows: [Int] = []
        for _ in 0..<400 {
            try queue.insertNext(QueuedProduct.letters("x"))
            rows.append(image.change(to: queue, isPlaying: false)?.rowCount ?? 0)
        }
        #expect(rows.filter { $0 > 3 }.count <= 400 / 39)
        #expect(rows.filter { $0 == 3 }.count >= 390)
    }

    @Test("is read back as it was")
    func load() throws {
        let folder = try ScratchFolder()
        let database = try Database(path: folder["queue.db"])
        try database.migrate(QueueWriter.migrations)
        let store = QueueStore(database)
        var queue = PlayQueue()
        try queue.set(QueuedProduct.files(Self.count), startingAt: 5000, random: QueueWriter.SeededRandom(seed: 5))
        queue.shuffle()
        var image = QueueImage()
        try store.write(queue, &image, isPlaying: true)
        let contents = try store.contents()
        #expect(QueueState(contents.queue) == QueueState(queue))
    }
}
