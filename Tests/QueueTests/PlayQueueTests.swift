import Platform
import Testing

@testable import Queue
@testable import CutProgram

@Suite("The play queue (docs/playback.md, 11)")
struct PlayQueueTests {
    @Test("A new queue plays from the given entry on")
    func set() throws {
        var queue = PlayQueue()
        #expect(queue.upNext == nil && queue.current == nil)
        try queue.set(QueuedProduct.letters("abcd"), startingAt: 2, random: SystemRandomSource())
        #expect(queue.word == "abcd")
        #expect(queue.currentLetter == "c")
        #expect(queue.upNextLetter == "d")
        let old = queue.playOrder
        try queue.set(QueuedProduct.letters("xy"), random: SystemRandomSource())
        #expect(queue.word == "xy")
        #expect(queue.currentLetter == "x")
        #expect(Set(old).isDisjoint(with: queue.playOrder), "an id is never given twice")
        #expect(queue.history.isEmpty)
    }

    @Test(
        "The entry that follows the current one",
        arguments: [
            (RepeatMode.off, "a", "b"), (.off, "c", nil),
            (.all, "a", "b"), (.all, "c", "a"),
            (.one, "a", "a"), (.one, "c", "c"),
        ] as [(RepeatMode, Character, String?)])
    func upNext(mode: RepeatMode, current: Character, expected: String?) throws {
        var queue = try PlayQueue("abc", current: current)
        queue.repeatMode = mode
        #expect(queue.upNextLetter == expected)
        let next = queue.next()
        #expect(next.flatMap(queue.product)?.productId == expected)
        #expect(queue.currentLetter == expected ?? String(current), "without a next entry nothing changes")
    }

    @Test("Repeat goes from off over all to one and off again")
    func cycle() {
        #expect(RepeatMode.off.following == .all)
        #expect(RepeatMode.all.following == .one)
        #expect(RepeatMode.one.following == .off)
    }

    @Test("Previous goes back to the entry that played before, and without a history to the entry before in the order")
    func previous() throws {
        var queue = try PlayQueue("abcde", current: "d")
        #expect(queue.historyWord == "a")
        _ = queue.previous()
        #expect(queue.currentLetter == "a")
        _ = queue.previous()
        #expect(queue.currentLetter == "a", "at the beginning the first once more")
        queue = try PlayQueue("abcde")
        try queue.select(queue.id("c"))
        try queue.select(queue.id("e"))
        queue.remove([queue.id("c"), queue.id("a")])
        _ = queue.previous()
        #expect(queue.currentLetter == "d", "removed entries are not in the history")
        var empty = PlayQueue()
        let nothing = empty.previous()
        #expect(nothing == nil)
    }

    @Test("previous leaves the current entry, also when the entries between two of its turns are removed")
    func previousIsAnotherEntry() throws {
        var queue = try PlayQueue("abc", current: "c")
        for letter in ["a", "b", "a"] as [Character] { try queue.select(queue.id(letter)) }
        queue.remove([queue.id("b")])
        #expect(queue.historyWord == "aca")
        _ = queue.previous()
        #expect(queue.currentLetter == "c")
    }

    @Test("An entry that repeats is in the history once, not each time")
    func historyOfRepetition() throws {
        var queue = try PlayQueue("ab", current: "b")
        queue.repeatMode = .one
        for _ in 0..<5 { _ = queue.next() }
        #expect(queue.historyWord == "a")
    }

    @Test("The history is bounded")
    func boundedHistory() throws {
        var queue = try PlayQueue("ab")
        queue.repeatMode = .all
        for _ in 0..<1000 { _ = queue.next() }
        #expect(queue.history.count == PlayQueue.historyLimit)
    }

    @Test("At the end nothing is current, previous finds the last one, and the beginning is up next")
    func end() throws {
        var queue = try PlayQueue("abc", current: "c")
        queue.finish()
        #expect(queue.current == nil)
        #expect(queue.upNextLetter == "a")
        _ = queue.previous()
        #expect(queue.currentLetter == "c")
    }

    @Test(
        "A failed entry is skipped and not in the history",
        arguments: [
            (RepeatMode.off, "b", "c"), (.one, "b", "c"), (.off, "c", nil), (.all, "c", "a"),
        ] as [(RepeatMode, Character, String?)])
    func broken(mode: RepeatMode, failed: Character, expected: String?) throws {
        var queue = try PlayQueue("abc")
        queue.repeatMode = mode
        queue.pass(over: queue.id(failed))
        #expect(queue.currentLetter == expected)
        #expect(!queue.history.contains(queue.id(failed)))
        var single = try PlayQueue("a")
        single.repeatMode = mode
        single.pass(over: single.id("a"))
        #expect(single.current == nil)
    }

    // MARK: Entries

    @Test(
        "Insert, insert next, add, move",
        arguments: [
            (false, "xabcd", "abxcd", "abcdx", "bcad"), (true, "xabcd", "abxcd", "abcdx", "bcad"),
        ])
    func edit(shuffled: Bool, first: String, next: String, last: String, moved: String) throws {
        // A shuffled queue that happens to play in this order.
        func queue() throws -> PlayQueue {
            var queue = try PlayQueue("abcd", current: "b")
            guard shuffled else { return queue }
            queue.shuffle()
            for (index, letter) in "abcd".enumerated() { try queue.move(queue.id(letter), to: index) }
            return queue
        }
        let x = QueuedProduct.letters("x")
        var changed = try queue()
        try changed.insert(x, at: -3)
        #expect(changed.word == first)
        changed = try queue()
        try changed.insertNext(x)
        #expect(changed.word == next)
        #expect(changed.upNextLetter == "x")
        changed = try queue()
        try changed.add(x)
        #expect(changed.word == last)
        changed = try queue()
        try changed.move(changed.id("a"), to: 2)
        #expect(changed.word == moved)
        #expect(changed.currentLetter == "b")
        try changed.move(changed.id("a"), to: 99)
        #expect(changed.word.hasSuffix("a"))
    }

    @Test(
        "When the current entry is removed, the next that stays takes its place",
        arguments: [
            (RepeatMode.off, "b", "b", "c"), (.off, "b", "bcd", "e"), (.off, "e", "de", nil), (.all, "e", "dea", "b"),
            (.off, "c", "ab", "c"), (.off, "a", "abcde", nil), (.all, "a", "abcde", nil),
        ] as [(RepeatMode, Character, String, String?)])
    func remove(mode: RepeatMode, current: Character, removed: String, expected: String?) throws {
        var queue = try PlayQueue("abcde", current: current)
        queue.repeatMode = mode
        queue.remove(removed.map { queue.id($0) } + [EntryID(77)])
        #expect(queue.currentLetter == expected)
        #expect(queue.word == "abcde".filter { !removed.contains($0) })
    }

    @Test("An operation that fails gives the reason and changes nothing")
    func refused() throws {
        var queue = try PlayQueue("ab")
        #expect(throws: PlayQueueError.noSuchEntry(EntryID(9))) { try queue.select(EntryID(9)) }
        #expect(throws: PlayQueueError.noSuchEntry(EntryID(9))) { try queue.move(EntryID(9), to: 0) }
        let many = [QueuedProduct](repeating: QueuedProduct(.track, "x"), count: PlayQueue.capacity - 1)
        #expect(throws: PlayQueueError.full(limit: PlayQueue.capacity)) { try queue.add(many) }
        let long = [QueuedProduct(.track, String(repeating: "x", count: 70_000))]
        #expect(throws: PlayQueueError.productIdTooLong(limit: 65_535)) {
            try queue.set(long, random: SystemRandomSource())
        }
        #expect(queue.word == "ab")
    }

    @Test("Products come back as they were")
    func products() throws {
        let products = [
            QueuedProduct(.video, "77", sourceType: "ALBUM", sourceId: "9", extras: ["a": "b"]),
            QueuedProduct(.track, "", sourceType: "ALBUM", sourceId: "9"),
            QueuedProduct(.track, "/müsic/☃.flac"),
            QueuedProduct(.track, "78", sourceId: ""),
        ]
        var queue = PlayQueue()
        try queue.set(products, random: SystemRandomSource())
        #expect(queue.entries(0..<9).map(\.product) == products)
        // Removed text leaves gaps that are closed at some time.
        let ids = try queue.add((0..<100).map { QueuedProduct(.track, "to be removed \($0)") })
        try queue.insert([QueuedProduct(.track, "last")], at: 4)
        for id in ids { queue.remove([id]) }
        #expect(queue.entries(0..<9).map(\.product) == products + [QueuedProduct(.track, "last")])
        let product = products[0].mediaProduct(referenceId: "r")
        #expect(product.productType == .video && product.productId == "77" && product.referenceId == "r")
        #expect(product.sourceType == "ALBUM" && product.sourceId == "9" && product.extras == ["a": "b"])
    }

    // MARK: Shuffle

    @Test("Shuffle begins with the current entry and has the others in another order, each once")
    func shuffle() throws {
        let letters = "abcdefghijklmnopqrstuvwxyz"
        var queue = try PlayQueue(letters, current: "m")
        queue.shuffle()
        #expect(queue.currentLetter == "m")
        #expect(queue.word.first == "m")
        #expect(queue.word.sorted() == letters.sorted())
        #expect(queue.word != "m" + letters.filter { $0 != "m" })
        let other = queue.word
        queue.unshuffle()
        #expect(queue.word == letters)
        #expect(queue.currentLetter == "m")
        queue.shuffle(seed: 8)
        #expect(queue.word != other)
    }

    @Test("Every order of the others is as likely as any")
    func fairness() throws {
        var counts: [String: Int] = [:]
        for seed in 0..<6000 {
            var queue = try PlayQueue("abcd", current: "c")
            queue.shuffle(seed: UInt64(seed))
            counts[queue.word, default: 0] += 1
        }
        #expect(counts.count == 6)
        // 1000 each, with a standard deviation of 29; the seeds are always the same.
        #expect(counts.values.allSatisfy { $0 > 850 && $0 < 1150 })
    }

    @Test("Switched off, the original order is back with the changes made meanwhile")
    func editedWhileShuffled() throws {
        var queue = try PlayQueue("abcdef", current: "c")
        queue.shuffle()
        let second = queue.product(queue.playOrder[1])!.productId
        try queue.insert(QueuedProduct.letters("xy"), at: 2)
        try queue.add(QueuedProduct.letters("z"))
        try queue.move(queue.id("c"), to: 5)
        queue.remove([queue.id(second == "a" ? "b" : "a")])
        queue.unshuffle()
        var expected = "abcdef"
        expected.insert(contentsOf: "xy", at: expected.index(after: expected.firstIndex(of: Character(second))!))
        expected.removeAll { $0 == (second == "a" ? "b" : "a") }
        #expect(queue.word == expected + "z")
        #expect(queue.currentLetter == "c")
    }

    @Test("A new queue is shuffled too, from the given entry on or from a random one")
    func setWhileShuffled() throws {
        var queue = PlayQueue()
        queue.shuffle()
        try queue.set(QueuedProduct.letters("abcdefgh"), startingAt: 3, random: QueueWriter.SeededRandom(seed: 3))
        #expect(queue.currentLetter == "d" && queue.word.first == "d")
        #expect(queue.originalWord == "abcdefgh")
        let first = try Set(
            (0..<50 as Range<UInt64>).map { seed in
                try queue.set(
                    QueuedProduct.letters("abcdefgh"), startingAt: nil, random: QueueWriter.SeededRandom(seed: seed))
                #expect(queue.current == queue.playOrder[0])
                return queue.currentLetter
            })
        #expect(first.count == 8)
    }
}
