import ApplianceTestSupport
import Testing

@testable import Appliance
@testable import Queue

@Suite("Music that was found")
struct FoundMusicTests {
    @Test("Music that a client collects line by line is not copied again with each line")
    func collected() {
        var music = FoundMusic()
        for line in 0..<100 {
            let more = FoundMusic(files: (0..<1000).map { "/\(line)/\($0)" })
            let before = music.products.pages
            music.add(more)
            // The last page may have been joined with the first new one.
            #expect(zip(before.dropLast(), music.products.pages).allSatisfy { $0.isSameMemory(as: $1) })
        }
        #expect(music.count == 100_000)
    }
}
