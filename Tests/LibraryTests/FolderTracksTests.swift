import Database
import Media
import PCM
import Testing

@testable import Library

@Suite("The order of the tracks in a folder")
struct FolderTracksTests {
    private func store(
        _ database: Database, _ path: String, album: String? = nil, disc: Int? = nil, track: Int? = nil,
        part: Int = 0
    ) throws(DatabaseError) {
        var metadata = TrackMetadata()
        metadata.album = album
        (metadata.discNumber, metadata.trackNumber) = (disc, track)
        let properties = AudioProperties(
            format: PCMFormat(sampleRate: 44_100, channelCount: 2, bitDepth: 16), frameCount: 100, container: .flac,
            codec: .flac, bitRate: nil)
        var scanned = ScannedTrack(FileStamp(size: 1, modified: 1, state: 1), properties, metadata, content: 1)
        scanned.part = part
        try TrackRows(database).store(FilePlace(path), scanned, now: 0)
    }

    /// Returns the files with their tracks of a sheet, as they are listed.
    private func listed(_ database: Database) throws(DatabaseError) -> [String] {
        var statement = try database.prepare("SELECT file, part FROM track ORDER BY folder, folder_position, id")
        var files: [String] = []
        while try statement.step() {
            let part = statement.number(1)
            files.append((statement.text(0) ?? "") + (part > 0 ? " \(part)" : ""))
        }
        return files
    }

    @Test("Files by album, disc, track and name, then the tracks of each sheet; a new one gets its place at the end")
    func order() throws {
        let database = try Database.inMemory()
        try database.migrate([MusicIndex.schema])
        try store(database, "/m/x.cue", track: 2, part: 2)
        try store(database, "/m/x.cue", track: 1, part: 1)
        try store(database, "/m/a.cue", part: 1)
        try store(database, "/m/z.flac", album: "one", disc: 1, track: 2)
        try store(database, "/m/y.flac", album: "One", disc: 1, track: 1)
        try store(database, "/m/B.flac")
        try store(database, "/m/a.flac")
        try store(database, "/n/1.flac")
        try TrackRows(database).finish()
        let sorted = ["a.flac", "B.flac", "y.flac", "z.flac", "a.cue 1", "x.cue 1", "x.cue 2", "1.flac"]
        #expect(try listed(database) == sorted)
        // A track without a disc is one of the first disc.
        try store(database, "/n/2.flac", album: "X", disc: 2, track: 1)
        try store(database, "/n/3.flac", album: "X", track: 2)
        try store(database, "/n/4.flac", album: "X", disc: 1, track: 1)
        try TrackRows(database).finish()
        #expect(try listed(database).suffix(4) == ["1.flac", "4.flac", "3.flac", "2.flac"])
        for name in ["2", "3", "4"] { try database.execute("DELETE FROM track WHERE file = ?", .text("\(name).flac")) }
        // Until its place is known, a new track is the first one.
        try store(database, "/m/w.flac", album: "ONE", disc: 1, track: 1)
        try TrackRows(database).finish(albums: false)
        #expect(try listed(database) == ["w.flac"] + sorted)
        try TrackRows(database).finish()
        #expect(
            try listed(database) == [
                "a.flac", "B.flac", "w.flac", "y.flac", "z.flac", "a.cue 1", "x.cue 1", "x.cue 2", "1.flac",
            ])
        // A track with other tags moves.
        try store(database, "/m/a.flac", album: "Zero")
        try TrackRows(database).finish()
        #expect(try listed(database).prefix(5) == ["B.flac", "w.flac", "y.flac", "z.flac", "a.flac"])
    }
}
