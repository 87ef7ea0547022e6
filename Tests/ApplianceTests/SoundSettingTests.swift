import ApplianceTestSupport
import Foundation
import Output
import PCM
import Platform
import Queue
import QueueTestSupport
import TestSupport
import Testing

@testable import Appliance
@testable import Playback
@testable import Player

@Suite("Settings of the sound reach the renderer")
struct SoundSettingTests {
    private let tracks: Tracks
    private let folder: ScratchFolder
    private let fixture: DaemonFixture

    init() throws {
        tracks = try Tracks()
        folder = try ScratchFolder()
        fixture = DaemonFixture(folder: folder["state"])
    }

    @Test("Each setting, and the board's where none is set")
    func settings() throws {
        func settings(_ text: String) throws -> PlayerSettings {
            try Configuration(parsing: Array(text.utf8), file: "").playerSettings(device: "d", sound: nil)
        }
        let standard = try settings("").output
        #expect(standard.fades && standard.allowsAdaptation && standard.device == "d")
        #expect(try !settings("[audio]\nfades = off").output.fades)
        #expect(try settings("[audio]\nfades = off").output.allowsAdaptation)
        #expect(try !settings("[audio]\nadaptation = off").output.allowsAdaptation)
        #expect(try settings("[audio]\nadaptation = off").output.fades)
        #expect(try settings("").output.routing == .straight)
        #expect(try settings("[audio]\nchannels = stereo").output.routing == .straight)
        #expect(try settings("[audio]\nchannels = swapped").output.routing == .swapped)
        #expect(try settings("[audio]\nchannels = mono").output.routing == .mono)
        #expect(try settings("[audio]\nchannels = left").output.routing == .left)
        #expect(try settings("[audio]\nchannels = right").output.routing == .right)
        #expect(try settings("").output.sampleRates == SampleRateRule())
        #expect(try settings("[audio]\nresampling = high").output.sampleRates == SampleRateRule(quality: .high))
        #expect(try settings("[audio]\nresampling = off").output.sampleRates == SampleRateRule(quality: nil))
        #expect(try settings("[audio]\nrate = 48000").output.sampleRates == SampleRateRule(fixed: 48_000))
        #expect(try settings("[audio]\nhighest-rate = 96000").output.sampleRates == SampleRateRule(highest: 96_000))
        #expect(try !settings("").output.sendsDSD && !settings("[audio]\ndsd = pcm").output.sendsDSD)
        #expect(try settings("[audio]\ndsd = dop").output.sendsDSD)
        #expect(try settings("[audio]\nbuffer = 80 ms").output.bufferMilliseconds == 80)
        #expect(try settings("[audio]\nperiods = 2").output.periodCount == 2)
        #expect(try settings("[audio]\nsample-format = S16_LE").output.sampleFormat == .s16)
    }

    private func mono() throws -> [QueuedProduct] {
        let path = tracks.folder["mono.wav"]
        try monoWAV(frames: 4000).write(to: URL(fileURLWithPath: path))
        return [QueuedProduct(.track, path)]
    }

    @Test("Adaptation: mono plays on a stereo card, and the status says how", arguments: [true, false])
    func adaptation(isOn: Bool) throws {
        fixture.card.support(channels: [2])
        try fixture.start("[audio]\nnormalization = off\nadaptation = \(isOn ? "on" : "off")")
        let products = try mono()
        try fixture.perform { try $0.queue.set(products, playing: true) }
        if isOn {
            fixture.waitForSound()
            let device = try #require(fixture.status.device)
            #expect(device.channelCount == 2)
            let adaptation: JSONValue = ["kind": "copied", "channels": 1, "routing": "straight"]
            #expect(PlaybackJSON.device(device)["adaptation"] == adaptation)
        } else {
            fixture.wait("the refusal") { $0.playback == .stopped }
            let codes = fixture.events.compactMap { if case .failed(_, let error) = $0 { error.code } else { nil } }
            #expect(codes == ["d5"])
        }
        fixture.end()
    }

    @Test("The status says when nothing is adapted")
    func notAdapted() throws {
        try fixture.start("[audio]\nnormalization = off")
        let products = try tracks.make("a", frames: 4000)
        try fixture.perform { try $0.queue.set(products, playing: true) }
        fixture.waitForSound()
        #expect(fixture.status.device != nil)
        #expect(PlaybackJSON.device(fixture.status.device)["adaptation"] == .null)
        fixture.end()
    }

    @Test("Fades: a pause fades what is in the device, or stops as it is", arguments: [true, false])
    func fades(isOn: Bool) throws {
        fixture.card.becomeAudible()
        try fixture.start("[audio]\nnormalization = off\nfades = \(isOn ? "on" : "off")")
        let products = try tracks.make("a", frames: 20_000, rate: 8000)
        try fixture.perform { try $0.queue.set(products, playing: true) }
        fixture.waitForSound()
        fixture.card.play(800)
        fixture.card.waitUntil("sound in the device") { $0.pendingFrames > 800 }
        fixture.perform { $0.commands.perform(.pause) }
        // The renderer has taken the command: the device has only the fade left, or no frames.
        fixture.waitForFocus()
        fixture.card.playFreely()
        fixture.card.waitUntil("the device to stop") { !$0.isStarted }
        // The left channel of the track is constant.
        let left = stride(from: 0, to: fixture.card.recordings[0].samples.count, by: 2).map {
            fixture.card.recordings[0].samples[$0]
        }
        let isFaded = left.contains { $0 != left[0] }
        #expect(isFaded == isOn)
        fixture.end()
    }
}

/// A WAV file of 1 kHz, 16 bit and one channel.
private func monoWAV(frames: Int) -> Data {
    func bytes(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    let format = bytes(1, 2) + bytes(1, 2) + bytes(1000, 4) + bytes(2000, 4) + bytes(2, 2) + bytes(16, 2)
    let samples = (0..<frames).flatMap { bytes($0, 2) }
    return Data(
        Array("RIFF".utf8) + bytes(36 + samples.count, 4) + Array("WAVEfmt ".utf8) + bytes(16, 4) + format
            + Array("data".utf8) + bytes(samples.count, 4) + samples)
}
