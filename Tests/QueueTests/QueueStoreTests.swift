import CLinux
import Foundation
import Platform
import Testing
import TestSupport

@testable import Database
@testable import Queue
@testable import CutProgram

/// Everything by which queues differ.
struct QueueState: Equatable {
    var entries: [QueueEntry]
    var original: [EntryID]
    var current: EntryID?
    var history: [EntryID]
    var repeatMode: RepeatMode
    var isShuffled: Bool
    var nextNumber: UInt32

    init(_ queue: PlayQueue) {
        entries = queue.entries(0..<queue.count)
        original = queue.originalOrder
        current = queue.current
        history = queue.history
        repeatMode = queue.repeatMode
        isShuffled = queue.isShuffled
        nextNumber = queue.nextNumber
    }
}

extension QueueStore {
    func write(_ queue: PlayQueue, _ image: inout QueueImage, isPlaying: Bool) throws {
        let change = image.change(to: queue, isPlaying: isPlaying)
        try write(#require(change))
    }
}

@Suite("The queue is kept")
struct QueueStoreTests {
    let folder: ScratchFolder
    let path: String

    init() throws {
        folder = try ScratchFolder()
        path = folder["queue.db"]
    }

    private func store() throws -> QueueStore {
        let database = try Database(path: path)
        try database.migrate(QueueWriter.migrations)
        return QueueStore(database)
    }

    /// The queue after so many steps of `QueueWriter`.
    private func queue(after steps: Int) throws -> PlayQueue {
        var queue = PlayQueue()
        for step in 0..<steps { try QueueWriter.perform(step + 1, on: &queue) }
        return queue
    }

    @Test("Nothing kept is an empty queue")
    func empty() throws {
        let contents = try store().contents()
        #expect(contents.queue.isEmpty && contents.position == 0 && !contents.isPlaying)
    }

    @Test("After each of 500 operations the database holds the queue, with the rows of an image that came from it")
    func operations() throws {
        let store = try store()
        var contents = try store.contents()
        for step in 1...500 {
            try QueueWriter.perform(step, on: &contents.queue)
            if let change = contents.image.change(to: contents.queue, isPlaying: step % 2 == 0) {
                try store.write(change)
            }
            let kept = try store.contents()
            #expect(QueueState(kept.queue) == QueueState(contents.queue), "after step \(step)")
            if step % 5 == 0 { contents = kept }
        }
    }

    @Test("A position belongs to the entry for which it was written")
    func position() throws {
        let store = try store()
        var queue = try PlayQueue("abc", current: "b")
        var image = QueueImage()
        try store.write(queue, &image, isPlaying: true)
        try store.write(position: 61.25, of: queue.id("b"))
        #expect(try store.contents().position == 61.25)
        #expect(try store.contents().isPlaying)
        _ = queue.next()
        try store.write(queue, &image, isPlaying: false)
        #expect(try store.contents().position == 0)
        #expect(try !store.contents().isPlaying)
    }

    @Test("The media are those of the entries, and a change of theirs alone is written")
    func media() throws {
        let store = try store()
        var queue = try PlayQueue("abc")
        var image = QueueImage()
        try store.write(queue, &image, isPlaying: false)
        queue.note(media: ["/mnt/usb", "/mnt/caf\u{EFE9}"])
        #expect(!image.isOf(queue, isPlaying: false))
        try store.write(queue, &image, isPlaying: false)
        var contents = try store.contents()
        #expect(Set(contents.queue.media.mountPoints) == ["/mnt/usb", "/mnt/caf\u{EFE9}"])
        #expect(contents.image.isOf(contents.queue, isPlaying: false))
        contents.queue.note(media: ["/mnt/usb"])
        #expect(contents.image.change(to: contents.queue, isPlaying: false) == nil)
        contents.queue.clear()
        try store.write(contents.queue, &contents.image, isPlaying: false)
        #expect(try store.contents().queue.media == MusicMedia())
        // A write that fails: everything is written again.
        queue.clear()
        image = QueueImage()
        try store.write(queue, &image, isPlaying: false)
        #expect(try store.contents().queue.media == MusicMedia())
    }

    @Test("After a write that failed everything is written")
    func failedWrite() throws {
        let store = try store()
        var queue = try PlayQueue("abcdef")
        var image = QueueImage()
        try store.write(queue, &image, isPlaying: true)
        try queue.add(QueuedProduct.letters("gh"))
        queue.remove([queue.id("b")])
        let refused = image.change(to: queue, isPlaying: true)
        #expect(refused != nil, "and the disk was full")
        queue.remove([queue.id("g")])
        image = QueueImage()
        try store.write(queue, &image, isPlaying: true)
        #expect(QueueState(try store.contents().queue) == QueueState(queue))
    }

    @Test("When numbers start again, the old rows with these numbers are removed")
    func numbersBeginAnew() throws {
        let store = try store()
        var queue = PlayQueue(
            table: EntryTable(), originalOrder: [], shuffledOrder: nil, repeatMode: .off, current: nil, history: [],
            nextNumber: .max / 2)
        var image = QueueImage()
        try queue.add(QueuedProduct.letters("abc"))
        try store.write(queue, &image, isPlaying: true)
        queue.clear()
        try queue.add(QueuedProduct.letters("xyz"))
        #expect(queue.playOrder[0] == EntryID(1))
        try store.write(queue, &image, isPlaying: true)
        #expect(QueueState(try store.contents().queue) == QueueState(queue))
    }

    @Test("An order that does not fit its entries costs the order, not the entries")
    func damagedOrder() throws {
        let queue = try PlayQueue("abcdef", current: "e")
        var image = QueueImage()
        let store = try store()
        try store.write(queue, &image, isPlaying: true)
        try Database(path: path).execute("DELETE FROM queue_order WHERE entry = 3")
        var contents = try store.contents()
        #expect(contents.queue.word == "abcdef")
        #expect(contents.queue.currentLetter == "e")
        try store.write(contents.queue, &contents.image, isPlaying: true)
        contents = try store.contents()
        #expect(contents.queue.word == "abcdef")
        let more = contents.image.change(to: contents.queue, isPlaying: true)
        #expect(more == nil)
    }

    @Test("After each kill during changes, the queue is the acknowledged one, or one change further")
    func killed() throws {
        var done = 0
        var read = 0
        for round in 0..<25 {
            let writer = try WriterProcess("queue", path, "\(done)")
            for _ in 0..<(round * 5 % 13) {
                done = try Int(#require(try writer.nextLine())) ?? -1
                read += 1
            }
            writer.kill()
            // The output of the process after the last line that was read here.
            while let line = try writer.nextLine() { done = Int(line) ?? -1 }
            let contents = try store().contents()
            let states = try [done, done + 1].map { QueueState(try queue(after: $0)) }
            let found = try #require(states.firstIndex(of: QueueState(contents.queue)), "after step \(done)")
            done += found
            // The position is a separate transaction, after the queue's.
            if let current = contents.queue.current, contents.position != 0 {
                #expect(contents.position <= Double(done + 1), "of \(current)")
            }
        }
        #expect(read == (0..<25).reduce(0) { $0 + $1 * 5 % 13 })
        #expect(done >= read)
    }
}
