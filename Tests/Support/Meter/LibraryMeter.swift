import CLinux
import Database
import Library
import Platform

/// The cost of a library. `Meter library INDEX FOLDER WORDS…` scans a folder into a new index. It prints the files, the
/// seconds of the scan, the bytes of the index, and the milliseconds of each search. With an index that exists it
/// prints the files of another scan, its seconds, and how many files it has read.
enum LibraryMeter {
    static func run(_ words: [String]) {
        guard words.count >= 2 else { Meter.fail("usage: Meter library INDEX FOLDER WORDS…") }
        do {
            let isNew = FileKind(at: words[0]) == nil
            let clock = SystemMonotonicClock()
            let index = try MusicIndex(words[0])
            let began = clock.now()
            let summary = try MusicScan(index: index, scope: .tree(words[1]), rules: .player).run()
            try MusicScan.finish(index)
            let seconds = Double(clock.now() - began) / 1e9
            guard isNew else {
                print(summary.tracks, seconds, summary.read)
                return
            }
            let bytes = try index.count(.bytes)
            var times: [Double] = []
            for word in words[2...] {
                guard let words = SearchWords(word) else { exit(2) }
                let began = clock.now()
                let page = ListPage(limit: 50)
                _ = try index.tracks(matching: words, page)
                _ = try index.albums(matching: words, limit: 20)
                _ = try index.names(.albumArtist, matching: words, limit: 20)
                times.append(Double(clock.now() - began) / 1e6)
            }
            print(summary.tracks, seconds, bytes, times.map { "\($0)" }.joined(separator: " "))
        } catch {
            print(error)
            exit(1)
        }
    }
}
