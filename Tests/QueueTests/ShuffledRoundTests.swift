import Platform
import Player
import Testing

@testable import Queue
@testable import CutProgram

@Suite("A shuffled queue: where it begins, and its rounds (docs/playback.md, 11)")
struct ShuffledRoundTests {
    private func queue(seed: UInt64, _ fill: (inout PlayQueue) throws -> Void) rethrows -> PlayQueue {
        var queue = PlayQueue()
        queue.seed(QueueWriter.SeededRandom(seed: seed))
        queue.shuffle()
        try fill(&queue)
        return queue
    }

    @Test("Entries that come one by one, together, or after clear, begin with any of them", arguments: 0..<4)
    func begins(way: Int) throws {
        var counts: [String: Int] = [:]
        for seed in 0..<1200 as Range<UInt64> {
            var queue = try queue(seed: seed) { queue in
                switch way {
                case 0: for letter in "abcd" { try queue.add(QueuedProduct.letters(String(letter))) }
                case 1: try queue.add(QueuedProduct.letters("abcd"))
                case 2:
                    try queue.add(QueuedProduct.letters("xyz"))
                    _ = queue.next()
                    queue.clear()
                    try queue.add(QueuedProduct.letters("ab"))
                    try queue.add(QueuedProduct.letters("cd"))
                default: try queue.insertNext(QueuedProduct.letters("abcd"))
                }
            }
            _ = queue.next()
            counts[queue.currentLetter ?? "-", default: 0] += 1
            #expect(queue.originalWord == "abcd" && queue.word.sorted() == Array("abcd"))
        }
        // 300 each, with a standard deviation of 15; the seeds are always the same.
        #expect(counts.count == 4 && counts.values.allSatisfy { $0 > 225 && $0 < 375 }, "\(counts)")
    }

    @Test("What is added while an entry is current comes at the end, and an index is kept")
    func places() throws {
        var queue = try queue(seed: 1) { try $0.add(QueuedProduct.letters("abc")) }
        try queue.insert(QueuedProduct.letters("x"), at: 3)
        #expect(queue.word.last == "x")
        _ = queue.next()
        try queue.add(QueuedProduct.letters("yz"))
        #expect(queue.word.hasSuffix("xyz"))
    }

    @Test("With repeat each round has all entries, another order, and begins with another one than the last")
    func rounds() throws {
        let letters = "abcdef"
        var queue = try queue(seed: 3) { try $0.add(QueuedProduct.letters(letters)) }
        queue.repeatMode = .all
        var rounds: [String] = []
        var last = ""
        for _ in 0..<60 {
            var round = ""
            for _ in letters {
                // The engine gets it before the entry before ends.
                let announced = queue.upNextLetter
                _ = queue.next()
                #expect(queue.currentLetter == announced)
                #expect(queue.currentLetter != last)
                last = queue.currentLetter ?? ""
                round += last
            }
            #expect(round.sorted() == letters.sorted())
            rounds.append(round)
        }
        #expect(Set(rounds).count > 50)
        #expect(Set(rounds.map(\.first)).count == letters.count)
        #expect(queue.originalWord == letters)
    }

    @Test(
        "With repeat an entry that plays is found among many that fail, whatever the orders of two rounds are",
        arguments: [2, 3, 6, 20], 0..<5 as Range<UInt64>)
    func mostFail(count: Int, seed: UInt64) throws {
        let letters = String("abcdefghijklmnopqrst".prefix(count))
        var play = try QueuePlay(letters, repeating: .all)
        _ = try play.edit { queue in
            queue.seed(QueueWriter.SeededRandom(seed: seed))
            queue.shuffle()
        }
        _ = play.handle(.play)
        let good = play.machine.contents.id("a")
        var (heard, time, planned): (Int, Int64, PlaybackRequest?) = (0, 0, nil)
        for step in 0..<(60 * count) {
            let request = try #require(planned ?? play.machine.requests.loaded, "\(step)")
            planned = nil
            if request.entry == good {
                _ = play.handle(.began(request, duration: 100), .init(time: time))
                _ = play.handle(.engineIs(.playing), .init(time: time))
                (heard, time, planned) = (heard + 1, time + 100_000_000_000, play.machine.requests.planned)
            } else {
                let error = PlayerError(.unexpected, code: "m1", message: "")
                _ = play.handle(.failed(request, error, .ofEntry), .init(time: time))
            }
        }
        #expect(heard > 50 && play.machine.wantsToPlay, "\(heard)")
    }

    @Test("When all fail it stops after at most two rounds", arguments: [1, 2, 6])
    func allFail(count: Int) throws {
        var play = try QueuePlay(String("abcdef".prefix(count)), repeating: .all)
        _ = try play.edit { $0.shuffle() }
        _ = play.handle(.play)
        var failures = 0
        while let request = play.machine.requests.loaded, failures < 100 {
            failures += 1
            _ = play.handle(.failed(request, PlayerError(.unexpected, code: "m1", message: ""), .ofEntry))
        }
        #expect(failures == 2 * count - 1 && play.machine.contents.current == nil)
    }

    @Test("A failed last entry, the end without repeat, and small queues")
    func edges() throws {
        var queue = try queue(seed: 4) { try $0.add(QueuedProduct.letters("abcdef")) }
        for _ in 0..<6 { _ = queue.next() }
        let (order, last) = (queue.word, queue.currentLetter)
        queue.repeatMode = .all
        queue.pass(over: queue.current!)
        #expect(queue.word != order && queue.currentLetter == String(queue.word.prefix(1)))
        #expect(queue.currentLetter != last)
        for _ in 0..<5 { _ = queue.next() }
        queue.repeatMode = .off
        let (other, end) = (queue.word, queue.currentLetter)
        #expect(queue.next() == nil)
        queue.finish()
        #expect(queue.word != other && queue.upNextLetter != end)
        for letters in ["a", "ab"] {
            var queue = try self.queue(seed: 5) { try $0.add(QueuedProduct.letters(letters)) }
            queue.repeatMode = .all
            var heard = ""
            for _ in 0..<6 {
                _ = queue.next()
                heard += queue.currentLetter ?? "-"
            }
            #expect(heard == (letters == "a" ? "aaaaaa" : heard.hasPrefix("a") ? "ababab" : "bababa"))
        }
    }
}
