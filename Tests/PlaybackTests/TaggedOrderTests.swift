import Foundation
import PlayerTestSupport
import TestSupport
import Testing

@testable import Playback
@testable import Player

@Suite("An album's order by its tags (docs/playback.md, 17.2)")
struct TaggedOrderTests {
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    private func track(_ name: String, _ tags: String...) throws {
        _ = try Track(name, frames: 100, tags: tags, in: folder)
    }

    private func found() throws -> [String] {
        try MusicFolder.contents(of: folder.path).files.map { String($0.dropFirst(folder.path.count + 1).dropLast(5)) }
    }

    @Test("Names without numbers: by disc, then by track; without a disc it is the first")
    func album() throws {
        try track("Adagio", "ALBUM=Suite", "TRACKNUMBER=2")
        try track("Bourree", "ALBUM=Suite", "TRACKNUMBER=1/2", "DISCNUMBER=2")
        try track("Courante", "ALBUM=Suite", "TRACKNUMBER=10", "DISCNUMBER=1")
        try track("Double", "ALBUM=Suite", "TRACKNUMBER=1", "DISCNUMBER=1")
        #expect(try found() == ["Double", "Adagio", "Courante", "Bourree"])
    }

    @Test("Names that all begin with a number tell the order, whatever the tags say")
    func numbers() throws {
        try track("1 Zarabanda", "ALBUM=Suite", "TRACKNUMBER=2")
        try track("2 Adagio", "ALBUM=Suite", "TRACKNUMBER=1")
        #expect(try found() == ["1 Zarabanda", "2 Adagio"])
    }

    @Test(
        "Files that are not one album stay in the order of names: another album, none, no or equal numbers",
        arguments: [
            ["ALBUM=Other", "TRACKNUMBER=1"], ["TRACKNUMBER=1"], ["ALBUM=Suite"], ["ALBUM=Suite", "TRACKNUMBER=2"],
        ])
    func noAlbum(tags: [String]) throws {
        try track("Adagio", "ALBUM=Suite", "TRACKNUMBER=2")
        _ = try Track("Bourree", frames: 100, tags: tags, in: folder)
        #expect(try found() == ["Adagio", "Bourree"])
    }

    @Test("A search opens so many files, and after that the names decide")
    func budget() throws {
        try track("b", "ALBUM=Suite", "TRACKNUMBER=2")
        try track("c", "ALBUM=Suite", "TRACKNUMBER=1")
        let files = ["b", "c"].map { folder["\($0).flac"] }
        var order = TaggedOrder(nil, budget: 3)
        #expect(order.sorted(files[...]) == files.reversed())
        #expect(order.sorted(files[...]) == files)
    }

    @Test("A file that is no audio leaves the order of names, and so does an album of more than 200 files")
    func limits() throws {
        try track("b", "ALBUM=Suite", "TRACKNUMBER=2")
        try track("c", "ALBUM=Suite", "TRACKNUMBER=1")
        #expect(try found() == ["c", "b"])
        try Data("text".utf8).write(to: URL(fileURLWithPath: folder["d.flac"]))
        #expect(try found() == ["b", "c", "d"])
        try FileManager.default.removeItem(atPath: folder["d.flac"])
        for number in 3...201 { try track("t\(number)", "ALBUM=Suite", "TRACKNUMBER=\(number)") }
        #expect(try found().prefix(2) == ["b", "c"])
    }
}
