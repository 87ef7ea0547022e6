import Database
import Glibc
import Platform
import Queue

/// Changes a queue for ever, and acknowledges each change on stdout once it is durable. So a test can end the process
/// at any moment and check the state: `CutProgram queue DATABASE STEPS-DONE`. The effect of a step depends only on its
/// number. `CutProgram queue memory COUNT` prints how many bytes a queue takes, in a process without other tests.
/// `CutProgram queue times COUNT` is for `tools/bench`: it prints a line for each operation on a queue of so many
/// entries, with its microseconds.
enum QueueWriter {
    static let migrations = [
        SchemaModule("appliance", [Migration(1, QueueStore.schema), Migration(2, QueueStore.mediaSchema)])
    ]

    static func run(_ words: [String]) throws {
        let count = Int(words[1]) ?? 0
        switch words[0] {
        case "memory": try measure(count: count)
        case "times": try time(count: count)
        default: try write(to: words[0], stepsDone: count)
        }
    }

    private static func write(to path: String, stepsDone: Int) throws {
        let database = try Database(path: path)
        try database.migrate(migrations)
        // A checkpoint every few changes: the process must be killed in them too.
        try database.execute("PRAGMA wal_autocheckpoint=8")
        let store = QueueStore(database)
        let contents = try store.contents()
        var queue = contents.queue
        var image = contents.image
        var step = stepsDone
        while true {
            step += 1
            try perform(step, on: &queue)
            if let change = image.change(to: queue, isPlaying: step % 3 == 0) { try store.write(change) }
            if let current = queue.current { try store.write(position: Double(step), of: current) }
            CutProgram.say("\(step)")
        }
    }

    private static func measure(count: Int) throws {
        // The program itself takes memory the first time that it does something.
        _ = try shuffledQueue(count: 100)
        let before = residentBytes()
        let kept = try shuffledQueue(count: count)
        CutProgram.say("\(residentBytes() - before)")
        withExtendedLifetime(kept) {}
    }

    private static func shuffledQueue(count: Int) throws -> (PlayQueue, QueueImage) {
        var queue = PlayQueue()
        // One by one, so that only the queue remains.
        for number in 0..<count { try queue.add([file(number)]) }
        queue.setShuffled(true, random: SeededRandom(seed: 1))
        var image = QueueImage()
        _ = image.change(to: queue, isPlaying: false)
        return (queue, image)
    }

    /// A file of a large collection.
    static func file(_ number: Int) -> QueuedProduct {
        QueuedProduct(
            .track, "/var/lib/music/Some Composer/Collected Works \(number / 20)/\(number % 20) - Movement.flac",
            sourceType: "FOLDER", sourceId: "/var/lib/music")
    }

    /// Freed memory is returned first, so that only used memory counts.
    private static func residentBytes() -> Int {
        typealias Trim = @convention(c) (Int) -> Int32
        _ = unsafeBitCast(dlsym(nil, "malloc_trim"), to: Trim.self)(0)
        let pages = (try? File.contents(of: "/proc/self/statm", limit: 4096)).map {
            String(decoding: $0, as: UTF8.self)
        }
        return Int(pages?.split(separator: " ")[1] ?? "")! * sysconf(Int32(_SC_PAGESIZE))
    }

    /// The change with this number.
    static func perform(_ step: Int, on queue: inout PlayQueue) throws(PlayQueueError) {
        let random = SeededRandom(seed: UInt64(step))
        func product(_ number: Int) -> QueuedProduct {
            QueuedProduct(
                number % 5 == 0 ? .video : .track, "/music/\(step)/\(number).flac", sourceType: "ALBUM",
                sourceId: "\(step)", extras: number % 3 == 0 ? ["number": "\(number)"] : [:])
        }
        let place = step &* 7919 % (queue.count + 1)
        switch step % 11 {
        case 1: try queue.set((0..<(20 + step % 50)).map(product), startingAt: step % 20, random: random)
        case 2, 7: queue.setShuffled(!queue.isShuffled, random: random)
        case 3: try queue.insert((0..<4).map(product), at: place)
        case 4: try queue.insertNext([product(0), product(1)])
        case 5 where place < queue.count: try queue.move(queue.playOrder[place], to: step % 9)
        case 6: queue.remove(queue.entries(place..<(place + 5)).map(\.id))
        case 8: queue.repeatMode = queue.repeatMode.following
        case 9: try queue.add((0..<3).map(product))
        case 10: _ = queue.previous()
        default: _ = queue.next()
        }
    }

    /// Numbers that look random and are the same each time.
    final class SeededRandom: RandomSource {
        private var state: UInt64

        init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

        func fill(_ buffer: UnsafeMutableRawBufferPointer) {
            for index in buffer.indices {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                buffer[index] = UInt8(truncatingIfNeeded: state >> 56)
            }
        }
    }
}
