import Testing

@testable import Playback
@testable import Player

@Suite("The order of names")
struct NaturalNameTests {
    @Test(
        "of files",
        arguments: [
            ["1.flac", "2.flac", "10.flac"], ["01 b.flac", "1 c.flac", "02 a.flac"],
            ["a.flac", "B.flac", "c.flac"], ["Song.flac", "Song (live).flac", "Song 2.flac"],
            ["A.flac", "a.flac"], ["ärger.flac", "Ärger 2.flac"], ["привет.flac", "Привет 2.flac"],
            ["1-9.flac", "1-10.flac", "1-010b.flac", "2-1.flac"], ["a", "a.flac", "a.mp3"], ["0", "00", "000"],
            ["cd 3.flac", "Disc 1.flac", "disc 2.flac"],
        ])
    func files(names: [String]) {
        for start in [names, names.reversed()] {
            #expect(start.map { NaturalName($0) }.sorted() == names.map { NaturalName($0) })
        }
    }

    @Test(
        "of folders, where those of discs follow their numbers",
        arguments: [
            ["CD1", "Disc 2", "cd_3", "DISK-10"], ["Disc 1 - Day", "CD2 - Night", "Disc 11"],
            ["Bonus", "CD1", "Disc 2", "Discography 1970-1980"], ["cd", "CD 1", "CDs"], ["a", "B", "c 2", "C 10"],
        ])
    func folders(names: [String]) {
        for start in [names, names.reversed()] {
            #expect(
                start.map { NaturalName(folder: $0) }.sorted() == names.map { NaturalName(folder: $0) })
        }
    }

    @Test("is total and transitive")
    func total() {
        let pieces = ["", "1", "01", "10", "a", "A", "cd", "CD 2", "disc1", ".", " ", "ä", "Ä", "0"]
        let names = pieces.flatMap { one in pieces.map { one + $0 } }
        for make in [{ NaturalName($0) }, { NaturalName(folder: $0) }] as [(String) -> NaturalName] {
            let sorted = names.map(make).sorted()
            for (one, other) in zip(sorted, sorted.dropFirst()) { #expect(!(other < one)) }
            #expect(sorted == names.reversed().map(make).sorted())
        }
    }
}
