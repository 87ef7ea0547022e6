import Database
import Media
import PCM
import TestSupport
import Testing

@testable import Library

@Suite("The cost of a scan")
struct ScanCostTests {
    /// Rows that SQLite changes for an album of so many tracks, as a scan stores them.
    private func changedRows(_ count: Int) throws -> Int64 {
        let folder = try ScratchFolder()
        let index = try MusicIndex(folder["library.db"])
        var metadata = TrackMetadata()
        (metadata.album, metadata.albumArtist) = ("One", "Anna")
        let properties = AudioProperties(
            format: PCMFormat(sampleRate: 44_100, channelCount: 2, bitDepth: 16), frameCount: 1, container: .flac,
            codec: .flac, bitRate: nil)
        for _ in 0..<2 {
            try index.write { (database) throws(DatabaseError) in
                let rows = TrackRows(database)
                for number in 0..<count {
                    let track = ScannedTrack(FileStamp(size: 1, modified: 1), properties, metadata, content: 1)
                    try rows.store(FilePlace("/m/\(number)"), track, now: 1)
                }
                try rows.finish(albums: false)
            }
            try MusicScan.finish(index)
        }
        #expect(try index.albums(ListPage(limit: 1)).entries.map(\.trackCount) == [Int64(count)])
        return try index.write { (database) throws(DatabaseError) in
            var statement = try database.prepare("SELECT total_changes()")
            return try statement.step() ? statement.integer(0) ?? 0 : 0
        }
    }

    @Test("Twice as many files of one album change twice as many rows")
    func linear() throws {
        let (one, two) = (try changedRows(500), try changedRows(1000))
        #expect(two < one * 5 / 2, "\(one) and \(two)")
    }
}
