import ApplianceTestSupport
import Foundation
import TestSupport
import Testing

@testable import Appliance

@Suite("Thumbnails: the queue (docs/decisions/pictures.md)")
struct PictureTurnsTests {
    private let folder: ScratchFolder
    private let picture: StoredPicture
    private let made: PictureResult

    init() throws {
        folder = try ScratchFolder()
        try Data([1]).write(to: URL(fileURLWithPath: folder["x"]))
        picture = try #require(StoredPicture(file: folder["x"]))
        let thumbnail = Thumbnail(width: 1, height: 1, bytes: [0xFF, 0xD8, 0xFF, 0xD9], side: 64)
        made = .made(try #require(thumbnail))
    }

    private func key(_ number: UInt64) -> ThumbnailKey {
        ThumbnailKey(picture: PictureIdentity(high: number, low: 0), side: 64)
    }

    @Test("Ten clients that ask for one picture wait for one request, and each gets its result")
    func shared() {
        var turns = PictureTurns()
        #expect((1...10).map { _ in turns.arrive(key(1), picture) } == [true] + [Bool](repeating: false, count: 9))
        #expect(turns.next()?.key == key(1))
        #expect(turns.arrive(key(1), picture) == false && !turns.hasResult(key(1)))
        #expect(turns.next() == nil)
        turns.finish(key(1), made)
        #expect(turns.hasResult(key(1)))
        #expect((1...11).map { _ in turns.take(key(1)) } == [PictureResult?](repeating: made, count: 11))
        #expect(turns.take(key(1)) == nil && !turns.hasResult(key(1)))
    }

    @Test("Pictures are made in the order of the requests; a worker starts when there is none")
    func order() {
        var turns = PictureTurns()
        #expect([3, 1, 2].map { turns.arrive(key($0), picture) } == [true, false, false])
        for number: UInt64 in [3, 1, 2] {
            #expect(turns.next()?.key == key(number))
            turns.finish(key(number), .failed)
        }
        #expect(turns.next() == nil)
        #expect(turns.arrive(key(4), picture) == true)
    }

    @Test("A picture for which no client waits any more is not begun; one that is begun is finished")
    func leaving() {
        var turns = PictureTurns()
        for number: UInt64 in [1, 2, 2, 3] { _ = turns.arrive(key(number), picture) }
        #expect(turns.next()?.key == key(1))
        for number: UInt64 in [1, 2, 3] { #expect(turns.take(key(number)) == nil) }
        // A client that comes back waits for the request that runs.
        #expect(turns.arrive(key(1), picture) == false)
        turns.finish(key(1), made)
        #expect(turns.take(key(1)) == made)
        #expect(turns.next()?.key == key(2))
        #expect(turns.take(key(2)) == nil)
        turns.finish(key(2), made)
        #expect(!turns.hasResult(key(2)) && turns.next() == nil)
    }

    @Test("Without a worker, and at the end of the server, all fail")
    func ends() {
        var turns = PictureTurns()
        _ = turns.arrive(key(1), picture)
        turns.loseWorker()
        #expect(turns.take(key(1)) == .failed)
        #expect(turns.arrive(key(2), picture) == true)
        #expect(turns.next()?.key == key(2))
        #expect(turns.arrive(key(3), picture) == false)
        turns.end()
        #expect(turns.next() == nil)
        #expect(turns.take(key(2)) == .failed && turns.take(key(3)) == .failed)
        turns.finish(key(2), made)
        #expect(turns.arrive(key(4), picture) == false)
        #expect(turns.take(key(4)) == .failed)
    }

    @Test("A refusal is remembered, the oldest ones no longer than 1,000 others")
    func refusals() {
        var refused = RefusedPictures()
        for number in 0...UInt64(RefusedPictures.limit) { refused.add(key(number).picture, .damaged) }
        refused.add(key(5).picture, .tooLarge)
        #expect(refused[key(0).picture] == nil && refused[key(1).picture] == .damaged)
        #expect(refused[key(5).picture] == .damaged && refused[key(1_000).picture] == .damaged)
    }
}
