import ApplianceTestSupport
import Database
import Foundation
import Library
import PCM
import Platform
import TestSupport
import Testing

@testable import Appliance
@testable import MPD
@testable import Playback
@testable import Player

@Suite(
    "What follows the sound of a file: stickers, and measured loudness of an earlier version", MPDMusic.needsEncoders)
struct FollowedSoundTests {
    private let scratch: ScratchFolder
    private let index: MusicIndex
    private let storage: StorageThread

    init() throws {
        scratch = try ScratchFolder()
        index = try MusicIndex(scratch["library.db"])
        storage = try ApplianceState(scratch["state"], servers: [MPDStickers.schema]).storage
    }

    private func scan(_ folders: String...) throws {
        for folder in folders {
            _ = try MusicScan(index: index, scope: .tree(scratch[folder]), rules: .player).run()
        }
        try MusicScan.finish(index)
    }

    private func add(_ path: String, _ title: String, frames: Int) throws {
        try TaggedFLAC.write(to: scratch[path], ["TITLE=\(title)"], frames: frames)
    }

    private func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws(DatabaseError) -> Value
    ) throws -> Value {
        let answer = FutureValue<Value?>()
        storage.query { database in answer.set(database.flatMap { try? body($0) }) }
        return try #require(answer.wait())
    }

    private func write(_ body: @escaping @Sendable (Database) throws(DatabaseError) -> Void) {
        let answers = Recorder<DatabaseError?>()
        storage.write(answerOn: nil, body) { answers.record($0) }
        expectSoon("the rows") { answers.elements == [nil] }
    }

    private var onQueries: @Sendable (@escaping @Sendable (MusicIndex?) -> Void) -> Void {
        { [index] body in body(index) }
    }

    @Test("Stickers follow a renamed file in its music folder, and no copy in another one, however many there are")
    func stickers() throws {
        storage.join()
        defer { storage.leave() }
        try add("one/a.flac", "A", frames: 2000)
        try add("one/z.flac", "Z", frames: 3000)
        try add("one/stays.flac", "S", frames: 4000)
        try add("two/copy of z.flac", "Z", frames: 3000)
        try scan("one", "two")
        let uris = ["one/a.flac", "one/stays.flac", "one/z.flac"] + (0..<450).map { "one/m\($0).flac" }
        write { (database) throws(DatabaseError) in
            for uri in uris { _ = try MPDStickerRows(database).set(.init(uri: uri, name: "n", value: uri)) }
        }
        let files = FileManager.default
        try files.removeItem(atPath: scratch["one/a.flac"])
        try files.removeItem(atPath: scratch["one/z.flac"])
        try add("one/A/renamed.flac", "Other", frames: 2000)
        try scan("one")
        let portions = Recorder<Int>()
        let moved = MovedStickers(
            paths: MusicURIs(folders: [scratch["one"], scratch["two"]]), storage: storage
        ) { [onQueries] body in
            onQueries { index in
                body(index)
                portions.record(1)
            }
        }
        func rows(_ uri: String) throws -> [String] {
            try read { (database) throws(DatabaseError) in try MPDStickerRows(database).all(of: uri).map { $0.value } }
        }
        moved.run()
        expectSoon("the sticker of the renamed file") { (try? rows("one/A/renamed.flac")) == ["one/a.flac"] }
        expectSoon("the end of the first run") { portions.elements.count == 3 }
        // The last one of more than two portions.
        try add("one/back.flac", "Z", frames: 3000)
        try scan("one")
        #expect(try rows("one/z.flac") == ["one/z.flac"] && rows("two/copy of z.flac") == [])
        moved.run()
        expectSoon("the sticker of the last one") { (try? rows("one/back.flac")) == ["one/z.flac"] }
        #expect(try rows("one/a.flac") == [] && rows("one/stays.flac").count == 1 && rows("one/m449.flac").count == 1)
    }

    @Test("Rows of loudness get the sound that the index has for this version of the file, also below a linked folder")
    func loudness() throws {
        storage.join()
        defer { storage.leave() }
        for number in 1...3 { try add("real/\(number).flac", "\(number)", frames: 2000 + number) }
        try FileManager.default.createSymbolicLink(atPath: scratch["music"], withDestinationPath: scratch["real"])
        try scan("music")
        let versions = try (1...3).map { try MusicFileVersion(at: scratch["real/\($0).flac"]) }
        let gain = ReplayGain(trackGain: -7)
        let others = (0..<450).map { MusicFileVersion(path: "/elsewhere/\($0)", size: 1, modified: 1) }
        let changed = MusicFileVersion(path: versions[1].path, size: versions[1].size, modified: 1)
        write { (database) throws(DatabaseError) in
            for file in [versions[0], changed] + others + [versions[2]] {
                try LoudnessRows(database).keep([FileLoudness(file, gain)])
            }
        }
        IdentifiedLoudness(folders: [scratch["music"]], storage: storage, onQueries: onQueries).run()
        let contents = try (1...3).map { try #require(try index.content(of: scratch["music/\($0).flac"], part: 0)) }
        func found(_ number: Int) throws -> ReplayGain? {
            let file = MusicFileVersion(path: "/renamed", size: 2, modified: 2, content: contents[number])
            return try read { (database) throws(DatabaseError) in try LoudnessRows(database).replayGain(of: file) }
        }
        expectSoon("the last row") { (try? found(2)) == gain }
        #expect(try found(0) == gain && found(1) == nil)
    }
}
