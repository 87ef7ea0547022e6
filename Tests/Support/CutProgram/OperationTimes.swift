import Platform
import Queue

extension QueueWriter {
    /// Prints the median time of each operation, including the search for its changes, without their write.
    static func time(count: Int) throws {
        let products = (0..<count).map { file($0) }
        let random = SeededRandom(seed: 1)
        for shuffled in [false, true] {
            var queue = PlayQueue()
            try queue.set(products, startingAt: count / 2, random: random)
            queue.setShuffled(shuffled, random: random)
            let suffix = shuffled ? "-shuffled" : ""
            func report(_ name: String, _ operation: (inout PlayQueue) throws -> Void) rethrows {
                print("\(name)\(suffix) \(try median(of: operation, on: queue))")
            }
            report("next") { _ = $0.next() }
            report("previous") { _ = $0.previous() }
            try report("select") { try $0.select($0.playOrder[count - 1]) }
            try report("add") { try $0.add([products[0]]) }
            try report("insert") { try $0.insert([products[0]], at: count / 3) }
            try report("insert-next") { try $0.insertNext([products[0]]) }
            try report("move") { try $0.move($0.playOrder[0], to: count - 1) }
            report("remove") { $0.remove([$0.playOrder[count / 3]]) }
            report("repeat") { $0.repeatMode = .all }
            report("clear") { $0.clear() }
            report("shuffle") { $0.setShuffled(!shuffled, random: random) }
        }
    }

    private static func median(of operation: (inout PlayQueue) throws -> Void, on start: PlayQueue) rethrows -> Int {
        let clock = SystemMonotonicClock()
        var known = QueueImage()
        _ = known.change(to: start, isPlaying: false)
        var times: [Int64] = []
        for _ in 0..<31 {
            var queue = start
            // A separate queue, like the daemon's.
            _ = queue.next()
            _ = queue.previous()
            var image = known
            _ = image.change(to: queue, isPlaying: false)
            let begin = clock.now()
            try operation(&queue)
            _ = image.change(to: queue, isPlaying: false)
            times.append(clock.now() - begin)
        }
        return Int(times.sorted()[times.count / 2] / 1000)
    }
}
