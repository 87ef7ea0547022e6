import Database
import Foundation
import OutputTestSupport
import PCM
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Playback
@testable import Player

@Suite("The measured loudness of local files (docs/playback.md, 9.7)", SheetFixture.needsFLAC)
struct MeasuredLoudnessTests {
    private let folder: ScratchFolder
    private let storage: StorageThread

    init() throws {
        folder = try ScratchFolder()
        storage = try Player.openStorage(folder["state"])
    }

    private func keep(_ results: [FileLoudness]) throws {
        let answers = Recorder<DatabaseError?>()
        storage.write(answerOn: nil) { (database) throws(DatabaseError) in
            try LoudnessRows(database).keep(results)
        } answer: {
            answers.record($0)
        }
        expectSoon("the rows") { !answers.elements.isEmpty }
        #expect(answers.elements == [nil])
    }

    private func open(_ name: String) throws -> OpenedProduct {
        try LocalFiles(loudness: MeasuredLoudness(storage)).open(
            MediaProduct(productType: .track, productId: folder[name], referenceId: name), session: PlaybackSession(),
            cancellation: try Cancellation(), medium: MediumAccess())
    }

    private let measured = ReplayGain(trackGain: -9, trackPeak: 0.75, albumGain: -12, albumPeak: 0.875)

    @Test(
        "A file without tags plays with the gain of its measurement",
        arguments: [(LoudnessNormalizationMode.track, -9.0), (.album, -12.0)])
    func played(mode: LoudnessNormalizationMode, gain: Double) throws {
        let track = try Track("a", frames: 4000, in: folder)
        let unknown = try Track("b", frames: 4000, in: folder)
        let storage = storage
        let fixture = try PlayerFixture(source: LocalFiles(loudness: MeasuredLoudness(storage))) {
            $0.storage = storage
        }
        try keep([FileLoudness(try MusicFileVersion(at: track.product.productId), measured)])
        fixture.player.playbackEngineConfig.loudnessNormalizationMode = mode
        fixture.player.playbackEngineConfig.untaggedGain = -3
        try fixture.play([(track.product, track.frames), (unknown.product, unknown.frames)])
        func scaled(_ samples: [Int32], by factor: Double) -> [Int32] {
            let gain = Int64((factor * Double(1 << 28)).rounded())
            return samples.map { Int32(clamping: (Int64($0) * gain + 1 << 27) >> 28) }
        }
        #expect(
            fixture.card.recordings.map(\.samples) == [
                scaled(track.samples, by: 0.8 * pow(10, (gain + 4) / 20))
                    + scaled(unknown.samples, by: pow(10, -3.0 / 20))
            ])
    }

    @Test("It is found by other names of the file, and by its sound after the file was changed")
    func versions() throws {
        storage.join()
        defer { storage.leave() }
        let track = try Track("a", frames: 4000, in: folder)
        try keep([FileLoudness(try MusicFileVersion(at: track.product.productId), measured)])
        symlink("a.flac", folder["link.flac"])
        #expect(try open("a.flac").replayGain == measured)
        #expect(try open("link.flac").replayGain == measured)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_000_000)], ofItemAtPath: folder["a.flac"])
        // The first opening has noted its sound in a row that had only its path.
        expectSoon("its loudness") { (try? open("a.flac").replayGain) == measured }
        #expect(try open("a.flac").isLocal)
        _ = try Track("a", frames: 4001, in: folder)
        #expect(try open("a.flac").replayGain == ReplayGain())
    }

    @Test("A file with other tags and another name keeps it, and one with another sound at its place has none")
    func renamed() throws {
        storage.join()
        defer { storage.leave() }
        let track = try Track("a", frames: 4000, in: folder)
        let decoder = try open("a.flac").decoder
        try keep([
            FileLoudness(try MusicFileVersion(at: track.product.productId).identified(decoder.properties), measured)
        ])
        let bytes = try track.file
        try FileManager.default.removeItem(atPath: folder["a.flac"])
        #expect(Array(bytes[..<4]) == Array("fLaC".utf8))
        // A block of padding after STREAMINFO.
        let retagged = Data(bytes[..<42]) + Data([1, 0, 0, 3, 0, 0, 0]) + Data(bytes[42...])
        try retagged.write(to: URL(fileURLWithPath: folder["b.flac"]))
        #expect(try open("b.flac").replayGain == measured)
        let other = try Track("other", frames: 4000, in: folder)
        try FileManager.default.moveItem(atPath: other.product.productId, toPath: folder["a.flac"])
        #expect(try open("a.flac").replayGain == ReplayGain())
        #expect(try open("b.flac").replayGain == measured)
    }

    @Test("Rows of the earlier version stay, belong to their path, and to their sound once it is known")
    func migration() throws {
        let database = try Database.inMemory()
        let schema = LoudnessRows.schema
        try database.migrate([SchemaModule(schema.name, Array(schema.migrations.prefix(1)))])
        for name in ["a", "b", "c"] {
            try database.execute(
                "INSERT INTO loudness (path, size, modified, track_gain) VALUES (?, 5, 7, -9)", .text("/\(name)"))
        }
        try database.migrate([schema])
        let rows = LoudnessRows(database)
        func file(_ path: String, content: Int64 = 0) -> MusicFileVersion {
            MusicFileVersion(path: path, size: 5, modified: 7, content: content)
        }
        let gain = ReplayGain(trackGain: -9)
        #expect(try rows.replayGain(of: file("/a")) == gain && rows.replayGain(of: file("/d")) == nil)
        #expect(try rows.unidentified(after: 0, limit: 2).map(\.file) == [file("/a"), file("/b")])
        #expect(try rows.unidentified(after: 2, limit: 2).map(\.file) == [file("/c")])
        try rows.note(77, of: file("/a"))
        try rows.note(78, of: MusicFileVersion(path: "/b", size: 6, modified: 7))
        #expect(try rows.unidentified(after: 0, limit: 9).map(\.file) == [file("/b"), file("/c")])
        #expect(try rows.replayGain(of: file("/moved", content: 77)) == gain)
        #expect(try rows.replayGain(of: file("/moved", content: 78)) == nil)
        // This version counts before the sound.
        let other = ReplayGain(trackGain: 1)
        try rows.keep([FileLoudness(file("/d", content: 77), other)])
        #expect(try rows.replayGain(of: file("/a", content: 77)) == gain)
        #expect(try rows.replayGain(of: file("/moved", content: 77)) == other)
        #expect(try rows.known([file("/d"), file("/e")]) == [KnownLoudness(albumGain: nil), nil])
    }

    @Test("Tags count before it, for the track and for the album")
    func tags() throws {
        storage.join()
        defer { storage.leave() }
        let track = try Track(
            "a", frames: 4000, tags: ["REPLAYGAIN_TRACK_GAIN=-3.00 dB", "REPLAYGAIN_TRACK_PEAK=0.5"], in: folder)
        try keep([FileLoudness(try MusicFileVersion(at: track.product.productId), measured)])
        #expect(
            try open("a.flac").replayGain
                == ReplayGain(trackGain: -3, trackPeak: 0.5, albumGain: -12, albumPeak: 0.875))
    }

    @Test("The tracks of a cue sheet have the gain of their file as that of the album")
    func sheet() throws {
        storage.join()
        defer { storage.leave() }
        let track = try Track("a", frames: 8000, in: folder)
        try Data(
            "FILE a.flac WAVE\nTRACK 1 AUDIO\nINDEX 01 0:0:0\nTRACK 2 AUDIO\nINDEX 01 0:0:30\n".utf8
        ).write(to: URL(fileURLWithPath: folder["a.cue"]))
        let whole = ReplayGain(trackGain: -9, trackPeak: 0.75)
        try keep([FileLoudness(try MusicFileVersion(at: track.product.productId), whole)])
        #expect(try open("a.cue/track0002").replayGain == whole.filled)
    }

    @Test("The oldest rows beyond the limit are removed, and a new measurement replaces the one before it")
    func rows() throws {
        let database = try Database.inMemory()
        try database.migrate(Player.schemas)
        let rows = LoudnessRows(database)
        func file(_ number: Int) -> MusicFileVersion {
            MusicFileVersion(path: "/\(number)", size: .max, modified: .min)
        }
        for number in 1...5 { try rows.keep([FileLoudness(file(number), measured)], limit: 3) }
        try rows.keep([FileLoudness(file(4), ReplayGain())], limit: 3)
        #expect(try [1, 2, 3, 5].map { try rows.replayGain(of: file($0)) } == [nil, nil, nil, measured])
        #expect(try rows.replayGain(of: file(4)) == ReplayGain())
    }

    @Test("A search for files alone passes over playlists and sheets, and finds the files of a sheet")
    func filesAlone() throws {
        _ = try Track("a", frames: 100, in: folder)
        for (name, text) in [("a.cue", "FILE a.flac WAVE\nTRACK 1 AUDIO\nINDEX 01 0:0:0\n"), ("a.m3u", "a.flac\n")] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: folder[name]))
        }
        var search = MusicFolder(findsFilesAlone: true)
        for name in ["a.cue", "a.m3u", "a.flac/", "a.cue/track0001"] { try search.add(folder[name]) }
        try search.add("tonearm:track/1")
        #expect(search.contents.files.isEmpty && search.contents.problems.isEmpty)
        try search.add(folder.path)
        #expect(search.contents.files == [folder["a.flac"]])
    }
}
