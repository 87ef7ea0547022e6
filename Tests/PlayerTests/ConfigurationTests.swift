import Database
import Foundation
import PCM
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Playback
@testable import Player

@Suite("The stored settings of the player")
struct ConfigurationTests {
    private func change(_ configuration: PlaybackEngineConfig) {
        configuration.loudnessNormalizationMode = .track
        configuration.loudnessNormalizationPreAmp = -7
        configuration.streamingWifiAudioQuality = .hiResLossless
        configuration.streamingCellularAudioQuality = .high
        configuration.maximumVolume = Volume(percent: 80)
        configuration.volume = Volume(percent: 33)
        configuration.isMuted = true
    }

    private static let changed: PlaybackEngineConfig.Values = {
        var values = PlaybackEngineConfig.Values()
        values.loudnessNormalizationMode = .track
        values.loudnessNormalizationPreAmp = -7
        values.streamingWifiAudioQuality = .hiResLossless
        values.streamingCellularAudioQuality = .high
        values.volume = Volume(percent: 33)
        values.maximumVolume = Volume(percent: 80)
        values.isMuted = true
        return values
    }()

    @Test("A new player has the defaults")
    func defaults() throws {
        let folder = try ScratchFolder()
        let fixture = try PlayerFixture(stateFolder: folder["state"])
        var expected = PlaybackEngineConfig.Values()
        expected.isVolumeKnown = false
        #expect(fixture.player.playbackEngineConfig.values == expected)
        let values = PlaybackEngineConfig.Values()
        #expect(values.loudnessNormalizationMode == .album && values.loudnessNormalizationPreAmp == 4)
        #expect(values.streamingWifiAudioQuality == .lossless && values.streamingCellularAudioQuality == .low)
        #expect(values.volume == .full && values.maximumVolume == .full && !values.isMuted)
    }

    @Test("A setting is there after a shutdown")
    func persisted() throws {
        let folder = try ScratchFolder()
        do {
            let fixture = try PlayerFixture(stateFolder: folder["state"])
            change(fixture.player.playbackEngineConfig)
        }
        let again = try PlayerFixture(stateFolder: folder["state"])
        #expect(again.player.playbackEngineConfig.values == Self.changed)
    }

    @Test(
        "The device on which auto played is there after a restart, one that was named is not",
        arguments: [("auto", "auto"), ("hw:CARD=DAC", nil)] as [(String, String?)])
    func automaticDevice(name: String, expected: String?) throws {
        let folder = try ScratchFolder()
        let track = try Track("a", frames: 8000)
        do {
            let fixture = try PlayerFixture(stateFolder: folder["state"]) { settings in
                settings.output.device = name
                settings.storesOnlyVolume = true
            }
            try fixture.play(track.product)
        }
        let again = try PlayerFixture(stateFolder: folder["state"])
        // This card has the name by which it was opened.
        #expect(again.player.playbackEngineConfig.values.automaticDevice?.name == expected)
    }

    @Test("A setting gets into the file without a shutdown")
    func abandoned() throws {
        let folder = try ScratchFolder()
        let fixture = try PlayerFixture(stateFolder: folder["state"])
        change(fixture.player.playbackEngineConfig)
        try fixture.spin("the values on disk") {
            // The values that the next start would find if this process ended now.
            let path = folder["state/\(Player.databaseName)"]
            guard let thread = try? StorageThread(path, modules: [Player.schema], isShared: true) else { return false }
            let storage = ConfigurationStorage(thread)
            defer { storage.shutDown() }
            return storage.initialValues == Self.changed
        }
    }

    @Test("Of many changes the last one is kept")
    func manyChanges() throws {
        let folder = try ScratchFolder()
        do {
            let fixture = try PlayerFixture(stateFolder: folder["state"])
            for percent in 0..<500 { fixture.player.playbackEngineConfig.volume = Volume(percent: percent % 91) }
            fixture.player.playbackEngineConfig.volume = Volume(percent: 42)
        }
        let again = try PlayerFixture(stateFolder: folder["state"])
        #expect(again.player.playbackEngineConfig.volume.percent == 42)
    }

    @Test("The volume is written at once, whatever was written before, and while a knob turns once a second")
    func prompt() throws {
        let (folder, clock) = (try ScratchFolder(), ManualClock())
        let loop = try EventLoop(drivenBy: clock)
        let path = folder["tonearm.db"]
        let thread = try StorageThread(path, modules: [Player.schema], loop: loop, clock: clock)
        let storage = ConfigurationStorage(thread)
        func settle() {
            let done = DispatchSemaphore(value: 0)
            loop.post { done.signal() }
            done.waitOrEndRun("the loop")
        }
        func save(_ percent: Int) {
            var values = storage.initialValues
            values.volume = Volume(percent: percent)
            values.isVolumeKnown = true
            storage.save(values)
            settle()
        }
        func kept() throws -> Int? {
            let other = try StorageThread(path, modules: [Player.schema], isShared: true)
            return try other.read { (database) throws(DatabaseError) in
                try KeyValueStore(database).integer("playback.volume").map { Int($0) }
            } ?? nil
        }
        // The write budget is used up.
        for _ in 0..<20 {
            thread.write(answerOn: nil) { _ in
            } answer: { _ in
            }
            settle()
        }
        save(50)
        #expect(try kept() == 50)
        for percent in 51..<80 { save(percent) }
        #expect(try kept() == 50)
        clock.advance(by: ConfigurationStorage.interval)
        loop.clockAdvanced()
        // Once for the timer, once for the write that it asks for.
        for _ in 0..<2 { settle() }
        #expect(try kept() == 79)
        // The knob rests for a second: the next change is prompt again.
        clock.advance(by: ConfigurationStorage.interval)
        loop.clockAdvanced()
        for _ in 0..<2 { settle() }
        save(20)
        #expect(try kept() == 20)
        save(21)
        storage.shutDown()
        #expect(try kept() == 21, "the end does not wait for the second")
    }

    @Test("The pre-amplification is limited")
    func preAmp() throws {
        let fixture = try PlayerFixture()
        let configuration = fixture.player.playbackEngineConfig
        configuration.loudnessNormalizationPreAmp = 1000
        #expect(configuration.loudnessNormalizationPreAmp == 30)
        configuration.loudnessNormalizationPreAmp = .min
        #expect(configuration.loudnessNormalizationPreAmp == -30)
    }

    @Test("A file that is no database is put aside, and a new one begins")
    func corrupt() throws {
        let folder = try ScratchFolder()
        let file = folder["tonearm.db"]
        let garbage = Data((0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try garbage.write(to: URL(fileURLWithPath: file))
        do {
            let fixture = try PlayerFixture(stateFolder: folder.path)
            #expect(fixture.player.storageProblem == nil)
            fixture.player.playbackEngineConfig.volume = Volume(percent: 7)
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: file + ".damaged-1")) == garbage)
        #expect(try PlayerFixture(stateFolder: folder.path).player.playbackEngineConfig.volume.percent == 7)
    }

    @Test("A state folder that cannot be created: it plays, says why, and writes once the folder can be created")
    func noFolder() throws {
        let folder = try ScratchFolder()
        try Data().write(to: URL(fileURLWithPath: folder["file"]))
        do {
            let fixture = try PlayerFixture(stateFolder: folder["file/state"])
            #expect(fixture.player.storageProblem?.contains(folder["file"]) == true)
            try FileManager.default.removeItem(atPath: folder["file"])
            fixture.player.playbackEngineConfig.volume = Volume(percent: 7)
        }
        #expect(try PlayerFixture(stateFolder: folder["file/state"]).player.playbackEngineConfig.volume.percent == 7)
    }

    @Test("A state of a newer version: the error names the file, which does not change")
    func newer() throws {
        let folder = try ScratchFolder()
        try Database(path: folder["tonearm.db"]).execute("PRAGMA user_version=99")
        let error = try #require(throws: PlayerError.self) { _ = try PlayerFixture(stateFolder: folder.path) }
        #expect(error.message.contains(folder["tonearm.db"]))
    }
}
