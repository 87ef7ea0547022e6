import AllocationCounter
import Foundation
import Output
import PCM
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Playback
@testable import Player

@Suite("The audio thread")
struct AudioThreadTests {
    @Test(
        "Allocates nothing from the first frame to the last, across a boundary and a turn of the volume",
        .enabled(if: allocation_counter_works()))
    func allocations() throws {
        // The first time Swift's runtime, which does not ship, makes the types that are used.
        _ = try allocationsWhilePlaying()
        #expect(try allocationsWhilePlaying() == [0])
    }

    private func allocationsWhilePlaying() throws -> [Int] {
        let tracks = [
            try Track("a", frames: 400_000, rate: 44_100),
            try Track("b", frames: 400_000, rate: 44_100, bits: 24),
        ]
        let provider = CountingProvider()
        let log = MessageLog()
        var settings = PlayerSettings(output: RendererSettings(device: "null"))
        settings.firstVolume = .full
        settings.realtimePriority = nil
        let player = try Player(
            settings: settings, source: LocalFiles(), provider: provider, clock: SystemMonotonicClock(),
            newSessionID: { "session" }, startTimer: { LoopTimer($0) }, openMixer: { nil })
        defer { player.shutDown() }
        player.playbackEngine.bus.subscribe { log.append($0) }
        player.playbackEngine.load(tracks[0].product)
        player.playbackEngine.setNext(tracks[1].product)
        player.playbackEngine.play()
        try log.wait("PLAYING") { $0.contains { $0.line == "PLAYING" } }
        player.playbackEngineConfig.volume = Volume(percent: 50)
        try log.wait("the end") { $0.last?.line == "IDLE" }
        let transitions = log.lines.filter { $0.contains(">") }
        #expect(transitions == ["- > a", "a > b", "b > -"])
        #expect(provider.frames.elements.reduce(0, +) == 800_000)
        return provider.allocations.elements
    }
}

/// ALSA's devices, with the heap calls counted that the audio thread makes from the start to the end of the sound.
private final class CountingProvider: DeviceProvider {
    private let alsa = ALSADeviceProvider()
    let allocations = Recorder<Int>()
    let frames = Recorder<Int>()

    func open(_ request: DeviceRequest) throws(DeviceError) -> any PlaybackDevice {
        CountingDevice(try alsa.open(request), self)
    }
}

private final class CountingDevice: PlaybackDevice {
    private let device: any PlaybackDevice
    private let provider: CountingProvider
    private var isCounting = false
    private var frames = 0

    init(_ device: any PlaybackDevice, _ provider: CountingProvider) {
        self.device = device
        self.provider = provider
    }

    var configuration: DeviceConfiguration { device.configuration }
    var isAudible: Bool { device.isAudible }
    func writableFrames() throws(DeviceFault) -> Int { try device.writableFrames() }

    func write(_ count: Int, _ fill: (UnsafeMutableRawPointer, Int) -> Void) throws(DeviceFault) -> Int {
        let written = try device.write(count, fill)
        frames += written
        return written
    }

    func start() throws(DeviceFault) {
        try device.start()
        guard !isCounting else { return }
        isCounting = true
        allocation_counter_start()
    }

    func delayFrames() throws(DeviceFault) -> Int { try device.delayFrames() }

    func wait(wakeUp: Int32, milliseconds: Int32) throws(DeviceFault) -> Bool {
        try device.wait(wakeUp: wakeUp, milliseconds: milliseconds)
    }

    func drop() throws(DeviceFault) { try device.drop() }
    func rewindableFrames() throws(DeviceFault) -> Int { try device.rewindableFrames() }
    func rewind(_ frames: Int) throws(DeviceFault) -> Int { try device.rewind(frames) }

    func drain() throws(DeviceFault) {
        try device.drain()
        guard isCounting else { return }
        provider.allocations.record(allocation_counter_stop())
        provider.frames.record(frames)
        isCounting = false
        frames = 0
    }

    func recover(from fault: DeviceFault) -> Bool { device.recover(from: fault) }
    func close() { device.close() }
}
