import Foundation
import PCM
import Testing
import TestSupport

@testable import Player

@Suite("What the player keeps")
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

    private static let changed = PlaybackEngineConfig.Values(
        loudnessNormalizationMode: .track, loudnessNormalizationPreAmp: -7, streamingWifiAudioQuality: .hiResLossless,
        streamingCellularAudioQuality: .high, volume: Volume(percent: 33), maximumVolume: Volume(percent: 80),
        isMuted: true)

    @Test("A new player has the defaults")
    func defaults() throws {
        let folder = try ScratchFolder()
        let fixture = try PlayerFixture(stateFolder: folder["state"])
        #expect(fixture.player.playbackEngineConfig.values == PlaybackEngineConfig.Values())
        #expect(
            PlaybackEngineConfig.Values()
                == PlaybackEngineConfig.Values(
                    loudnessNormalizationMode: .album, loudnessNormalizationPreAmp: 4,
                    streamingWifiAudioQuality: .lossless,
                    streamingCellularAudioQuality: .low, volume: .full, maximumVolume: .full, isMuted: false))
    }

    @Test("What was set is there after a shutdown")
    func persisted() throws {
        let folder = try ScratchFolder()
        do {
            let fixture = try PlayerFixture(stateFolder: folder["state"])
            change(fixture.player.playbackEngineConfig)
        }
        let again = try PlayerFixture(stateFolder: folder["state"])
        #expect(again.player.playbackEngineConfig.values == Self.changed)
    }

    @Test("What was set gets to the file without a shutdown")
    func abandoned() throws {
        let folder = try ScratchFolder()
        let fixture = try PlayerFixture(stateFolder: folder["state"])
        change(fixture.player.playbackEngineConfig)
        try fixture.spin("the values on disk") {
            // As the next start would find them, were this process gone.
            guard let storage = try? ConfigurationStorage(folder: folder["state"]) else { return false }
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

    @Test("The pre-amplification is limited")
    func preAmp() throws {
        let fixture = try PlayerFixture()
        let configuration = fixture.player.playbackEngineConfig
        configuration.loudnessNormalizationPreAmp = 1000
        #expect(configuration.loudnessNormalizationPreAmp == 30)
        configuration.loudnessNormalizationPreAmp = .min
        #expect(configuration.loudnessNormalizationPreAmp == -30)
    }

    @Test("A file that is no database is left alone, and the error names it")
    func corrupt() throws {
        let folder = try ScratchFolder()
        let file = folder["tonearm.db"]
        let garbage = Data((0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try garbage.write(to: URL(fileURLWithPath: file))
        let error = try #require(throws: PlayerError.self) {
            _ = try PlayerFixture(stateFolder: folder.path)
        }
        #expect(error.message.contains(file))
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == garbage)
    }

    @Test("A state folder that cannot be made: the error names it")
    func noFolder() throws {
        let folder = try ScratchFolder()
        try Data().write(to: URL(fileURLWithPath: folder["file"]))
        let error = try #require(throws: PlayerError.self) {
            _ = try PlayerFixture(stateFolder: folder["file/state"])
        }
        #expect(error.message.contains(folder["file"]))
    }
}
