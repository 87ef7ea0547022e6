import ApplianceTestSupport
import Board
import Database
import Foundation
import Output
import PCM
import Platform
import Queue
import QueueTestSupport
import TestSupport
import Testing

@testable import Appliance
@testable import Player

@Suite("The daemon")
struct DaemonTests {
    private let tracks: Tracks
    private let folder: ScratchFolder
    private let fixture: DaemonFixture

    init() throws {
        tracks = try Tracks()
        folder = try ScratchFolder()
        fixture = DaemonFixture(folder: folder["state"])
    }

    private func set(_ word: String, frames: Int = 20_000, playing: Bool = true) throws {
        let products = try tracks.make(word, frames: frames)
        try fixture.perform { try $0.queue.set(products, playing: playing) }
        if playing { fixture.waitForSound() }
    }

    // MARK: Resuming

    @Test("A start resumes at the exact frame where the last one ended")
    func resumes() throws {
        try fixture.start("[audio]\nnormalization = off")
        try set("ab")
        fixture.play(1500)
        fixture.end()
        try fixture.start("[audio]\nnormalization = off")
        fixture.waitForSound()
        fixture.play(500)
        #expect(fixture.card.heard == "a0-2000")
        #expect(fixture.status.count == 2)
        fixture.end()
    }

    @Test("A pulled plug costs at most fifteen seconds of the position, and nothing of the queue")
    func power() throws {
        try fixture.start("[audio]\nnormalization = off")
        try set("abc", frames: 30_000)
        for _ in 0..<22 {
            fixture.play(1000)
            // A decoder that is late stalls it, and while it is stalled no position is written.
            fixture.waitForSound()
            fixture.pass(seconds: 1)
        }
        fixture.perform { $0.queue.setRepeatMode(.all) }
        fixture.waitForWriting()
        try fixture.pullThePlug()
        try fixture.start("[audio]\nnormalization = off\n[player]\nresume = paused")
        let status = fixture.status
        #expect(status.count == 3)
        #expect(status.repeatMode == .all)
        #expect(status.position > 22 - 15 && status.position <= 22, "\(status.position)")
        #expect(status.playback == .paused)
        fixture.end()
    }

    @Test(
        "A paused queue stays paused; `empty` starts with an empty queue",
        arguments: [
            ("playing", 2, QueuePlayback.paused), ("paused", 2, .paused), ("empty", 0, .stopped),
        ])
    func policies(policy: String, count: Int, playback: QueuePlayback) throws {
        try fixture.start()
        try set("ab", playing: false)
        fixture.end()
        try fixture.start("[player]\nresume = \(policy)")
        #expect(fixture.status.count == count)
        #expect(fixture.status.playback == playback)
        fixture.end()
    }

    @Test("Paused, nothing is written and no timer waits")
    func idle() throws {
        try fixture.start()
        try set("ab")
        fixture.play(500)
        fixture.perform { $0.commands.perform(.pause) }
        fixture.waitForWriting()
        let before = try contents()
        fixture.pass(seconds: 3600)
        fixture.waitForWriting()
        #expect(try contents() == before)
        fixture.end()
    }

    private func contents() throws -> [Data] {
        try ["tonearm.db", "tonearm.db-wal"].map {
            try Data(contentsOf: URL(fileURLWithPath: "\(fixture.folder)/\($0)"))
        }
    }

    // MARK: The state folder

    @Test("A second daemon on the same state gets an error that names the first one")
    func lock() throws {
        try fixture.start()
        do throws(ApplianceState.Problem) {
            _ = try ApplianceState(fixture.folder)
            Issue.record("two of them")
        } catch {
            #expect(error == .heldByAnother(folder: fixture.folder, process: Int(getpid())))
        }
        fixture.end()
        _ = try ApplianceState(fixture.folder)
    }

    @Test(
        "A database that is damaged is put aside, whole, and a new one begins",
        arguments: ["appliance.db", "tonearm.db"])
    func damaged(name: String) throws {
        try FileManager.default.createDirectory(atPath: fixture.folder, withIntermediateDirectories: true)
        let noise = Data((0..<8192).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try noise.write(to: URL(fileURLWithPath: "\(fixture.folder)/\(name)"))
        try fixture.start()
        #expect(fixture.status.count == 0)
        #expect(fixture.status.problems.map(\.subject) == ["damage"])
        fixture.end()
        #expect(try Data(contentsOf: URL(fileURLWithPath: "\(fixture.folder)/\(name).damaged-1")) == noise)
    }

    @Test("Damage that a write meets is a problem; the queue and the settings of clients are written again")
    func damagedLater() throws {
        try fixture.start()
        try set("ab", playing: false)
        _ = try fixture.perform { try $0.settings.set(.maximumVolume, to: "50 %") }
        fixture.waitForWriting()
        let path = "\(fixture.folder)/tonearm.db"
        for table in ["setting", "queue_entry"] { try Database(path: path).execute("DROP TABLE \(table)") }
        let met = DispatchSemaphore(value: 0)
        fixture.storage.write(answerOn: nil) { (_) throws(DatabaseError) in
            throw DatabaseError(kind: .corrupt, message: "database disk image is malformed", path: path)
        } answer: { _ in
            met.signal()
        }
        try met.wait(for: "the write")
        fixture.perform { $0.queue.setRepeatMode(.one) }
        fixture.wait("the problem") { $0.problems.map(\.subject) == ["damage"] }
        #expect(fixture.status.problems.first?.message.contains("\(path).damaged-1") == true)
        fixture.waitForWriting()
        fixture.end()
        try fixture.start()
        #expect(fixture.status.problems == [])
        #expect(fixture.status.count == 2)
        #expect(fixture.status.maximumVolumePercent == 50)
        fixture.end()
    }

    @Test("A failed write is a problem, and is retried until it succeeds")
    func unwritable() throws {
        try fixture.start()
        // Another process is writing: the daemon's write waits a second and fails.
        let other = try Database(path: "\(fixture.folder)/tonearm.db")
        try other.execute("BEGIN IMMEDIATE")
        try set("ab", playing: false)
        fixture.waitForWriting()
        #expect(fixture.status.problems.map(\.subject) == ["storage"])
        try other.execute("ROLLBACK")
        fixture.perform { $0.queue.setRepeatMode(.one) }
        fixture.waitForWriting()
        #expect(fixture.status.problems == [])
        try fixture.pullThePlug()
        try fixture.start()
        #expect(fixture.status.count == 2)
        #expect(fixture.status.repeatMode == .one)
        fixture.end()
    }

    @Test(
        "A volume that cannot be written is a problem, and is written as soon as it can be", arguments: [false, true])
    func unwritableVolume(atTheEnd: Bool) throws {
        try fixture.start()
        let other = try Database(path: "\(fixture.folder)/tonearm.db")
        try other.execute("BEGIN IMMEDIATE")
        fixture.perform { $0.volume.set(percent: 17) }
        fixture.wait("the problem") { $0.problems.map(\.subject) == ["settings"] }
        try other.execute("ROLLBACK")
        if !atTheEnd {
            fixture.perform { $0.volume.set(percent: 18) }
            fixture.wait("the end of the problem") { $0.problems == [] }
        }
        fixture.end()
        try fixture.start()
        #expect(fixture.status.volumePercent == (atTheEnd ? 17 : 18))
        fixture.end()
    }

    // MARK: Focus

    @Test("Without focus the device is free; with it, playback resumes at the same frame")
    func focus() throws {
        try fixture.start("[audio]\nnormalization = off")
        try set("a")
        fixture.play(1000)
        fixture.perform { $0.focus.set(.background) }
        fixture.waitForFocus()
        #expect(!fixture.card.isOpen)
        #expect(fixture.status.playback == .stalled)
        fixture.perform { $0.focus.set(.limited) }
        fixture.waitForSound()
        fixture.play(500)
        #expect(fixture.card.heard == "a0-1500")
        #expect(fixture.card.recordings.count == 2)
        fixture.end()
    }

    @Test("The lowest level of all clients applies, and ends when its client disconnects")
    func holders() throws {
        try fixture.start()
        fixture.perform { $0.focus.hold(.none, by: 1) }
        fixture.perform { $0.focus.hold(.limited, by: 2) }
        #expect(fixture.status.focus == .none)
        fixture.perform { $0.focus.release(by: 1) }
        #expect(fixture.status.focus == .limited)
        fixture.perform { $0.focus.set(.background) }
        fixture.perform { $0.focus.release(by: 2) }
        #expect(fixture.status.focus == .background)
        fixture.end()
    }

    // MARK: Configuration

    @Test("A client's setting overrides the file, is kept across restarts, and can be removed")
    func settings() throws {
        try fixture.start("[audio]\nmaximum-volume = 80 %")
        #expect(try fixture.perform { try $0.settings.set(.maximumVolume, to: "50%") })
        #expect(fixture.status.maximumVolumePercent == 50)
        #expect(try !fixture.perform { try $0.settings.set(.buffer, to: "1 s") })
        fixture.end()
        try fixture.start("[audio]\nmaximum-volume = 80 %")
        #expect(fixture.status.maximumVolumePercent == 50)
        #expect(fixture.perform { $0.settings.configuration.written(.buffer) } == "1 s")
        #expect(fixture.perform { $0.settings.configuration.originText(.buffer) } == "set at run time")
        #expect(fixture.perform { $0.settings.unset(.maximumVolume) })
        #expect(fixture.status.maximumVolumePercent == 80)
        fixture.end()
    }

    @Test("Another device plays on at once, and the former one again when the setting is removed")
    func device() throws {
        try fixture.start()
        try set("ab", playing: true)
        fixture.waitForSound()
        fixture.play(100)
        #expect(try fixture.perform { try $0.settings.set(.device, to: "hw:CARD=DAC") })
        fixture.wait("the other device") { $0.device?.device == "hw:CARD=DAC" }
        #expect(fixture.card.recordings.map(\.frames).first == 100)
        #expect(fixture.card.openingCount == 2)
        #expect(try fixture.perform { try $0.settings.set(.device, to: "hw:CARD=DAC") }, "nothing is opened again")
        fixture.waitForSound()
        fixture.play(100)
        #expect(fixture.card.openingCount == 2)
        fixture.perform { _ = $0.settings.unset(.device) }
        fixture.wait("the former device") { $0.device?.device == "paced" }
        fixture.end()
        try fixture.start()
        #expect(fixture.card.recordings.last?.configuration.device == "paced")
        fixture.end()
    }

    @Test("Offline mode is a setting, also from the start on, and can change at any time")
    func offlineMode() throws {
        try fixture.start("[offline]\nonly = yes")
        #expect(fixture.player.isOfflineMode)
        #expect(try fixture.perform { try $0.settings.set(.offlineOnly, to: "no") })
        #expect(!fixture.player.isOfflineMode)
        fixture.end()
    }

    @Test("A setting that needs a restart is not in force before it, and is again when it is set back")
    func settingForNextStart() throws {
        try fixture.start("[audio]\nbuffer = 100 ms")
        #expect(try !fixture.perform { try $0.settings.set(.buffer, to: "1 s") })
        #expect(try !fixture.perform { try $0.settings.set(.buffer, to: "1 s") })
        #expect(try fixture.perform { try $0.settings.set(.preAmp, to: "0 dB") })
        #expect(try fixture.perform { try $0.settings.set(.buffer, to: "100 ms") })
        #expect(try !fixture.perform { try $0.settings.set(.buffer, to: "1 s") })
        #expect(fixture.perform { $0.settings.unset(.buffer) })
        fixture.end()
    }

    @Test("A value that is not allowed changes nothing, and the error lists the allowed ones")
    func badSetting() throws {
        try fixture.start()
        fixture.perform { daemon in
            do throws(SettingError) {
                _ = try daemon.settings.set(.normalization, to: "loud")
                Issue.record("taken")
            } catch {
                #expect("\(error)" == "normalization = loud: must be one of off, track, album")
            }
            #expect(daemon.settings.configuration.normalization == .album)
        }
        fixture.end()
    }

    @Test("A reload applies the settings that it can, and names the others")
    func reload() throws {
        try fixture.start("[audio]\npre-amp = 0 dB")
        let new = try Configuration(parsing: Array("[audio]\npre-amp = 6 dB\nperiods = 8".utf8), file: "tonearm.conf")
        let difference = fixture.perform { $0.settings.reload(new) }
        #expect(difference.changed == [.preAmp])
        #expect(difference.needsRestart == [.periods])
        #expect(fixture.player.playbackEngineConfig.loudnessNormalizationPreAmp == 6)
        fixture.perform { $0.settings.startedWithMistakes(["tonearm.conf:2: bufer is no key"]) }
        #expect(fixture.status.problems.map(\.subject) == ["configuration"])
        try fixture.perform { _ = try $0.settings.set(.preAmp, to: "3 dB") }
        #expect(fixture.status.problems.map(\.subject) == ["configuration"], "the file is still as it was")
        fixture.perform { $0.settings.reload(new) }
        #expect(fixture.status.problems == [])
        fixture.end()
    }

    // MARK: The volume

    @Test("The volume and its mute are reported and stored")
    func volume() throws {
        try fixture.start("[audio]\nmaximum-volume = 60 %")
        fixture.perform { $0.volume.set(percent: 90) }
        #expect(fixture.status.volumePercent == 60)
        fixture.perform { $0.commands.perform(.mute) }
        #expect(fixture.status.isMuted)
        fixture.perform { $0.volume.change(by: -10) }
        fixture.perform { $0.volume.setMuted(true) }
        #expect(fixture.events.filter { $0 == .volume }.count == 2)
        fixture.end()
        try fixture.start()
        #expect(fixture.status.volumePercent == 50)
        #expect(fixture.status.isMuted)
        fixture.end()
    }

    // MARK: Problems

    @Test("A missing device is a problem until it is there, and entries that cannot be played are reported")
    func problems() throws {
        fixture.card.unplug()
        try fixture.start()
        // The problem is there even before playback is requested.
        #expect(fixture.status.problems == [DaemonProblem(subject: "device", message: "no card")])
        let products = try tracks.make("Xa", frames: 3000)
        try fixture.perform { try $0.queue.set(products, playing: true) }
        fixture.wait("the problem") { $0.playback == .stalled && $0.problems.map(\.subject) == ["device"] }
        fixture.settle()
        #expect(fixture.status.playback == .stalled)
        #expect(
            fixture.events.contains {
                if case .failed(let entry, _) = $0 { entry.product == products[0] } else { false }
            })
        fixture.end()
    }

    @Test("A file whose name is not UTF-8 is added, plays, is in the status, and resumes after a restart")
    func nameThatIsNotUTF8() throws {
        let plain = try tracks.make("a", frames: 20_000)[0].productId
        let path = folder["caf\u{EFE9}.flac"]
        FileName.withBytes(of: path) { bytes in
            #expect(link(plain, bytes) == 0)
        }
        try fixture.start("[audio]\nnormalization = off")
        try fixture.perform { daemon in
            try daemon.queue.set([QueuedProduct(.track, path)], playing: true)
        }
        fixture.waitForSound()
        fixture.play(1500)
        #expect(fixture.status.entry?.product.productId == path)
        fixture.end()
        try fixture.start("[audio]\nnormalization = off")
        fixture.waitForSound()
        #expect(fixture.status.entry?.product.productId == path)
        fixture.play(500)
        #expect(fixture.card.heard == "a0-2000")
        fixture.end()
    }
}
