import AllocationCounter
import CLinux
import OutputTestSupport
import PCM
import Platform
import TestSupport
import Testing

@testable import Output

@Suite(
    "The audio thread does not allocate between opening and closing a device",
    .enabled(if: allocation_counter_works()))
struct RenderAllocationTests {
    static let stereo = PCMFormat(sampleRate: 44_100, channelCount: 2, bitDepth: 16)
    static let deep = PCMFormat(sampleRate: 44_100, channelCount: 2, bitDepth: 24)

    @Test(
        "ALSA's null device, memory mapped or not, on the real thread", arguments: [true, false],
        [SampleFormat.s16, .iec958Subframe])
    func nullDevice(memoryMapping: Bool, sampleFormat: SampleFormat) throws {
        // The first time Swift's runtime, which does not ship, makes the types that are used.
        _ = try callsWhilePlaying(memoryMapping: memoryMapping, sampleFormat)
        #expect(try callsWhilePlaying(memoryMapping: memoryMapping, sampleFormat) == [0])
    }

    private func callsWhilePlaying(memoryMapping: Bool, _ sampleFormat: SampleFormat) throws -> [Int] {
        let null = ALSADeviceProvider(configuration: .builtIn, memoryMapping: memoryMapping)
        let provider = CountingProvider(null)
        let settings = RendererSettings(device: "null", sampleFormat: sampleFormat)
        let renderer = try Renderer(
            provider: provider, clock: SystemMonotonicClock(), settings: settings, priority: .normal)
        let streams = (1...2).map { TestStream(id: $0, format: Self.stereo) }
        for (index, stream) in streams.enumerated() {
            stream.stream.gain = Gain(rawValue: Gain.unity.rawValue / Int32(index + 2))
            stream.write(30_000)
            stream.change(to: Self.deep)
            stream.write(20_000)
        }
        renderer.begin(streams[0].stream)
        renderer.setNext(streams[1].stream)
        renderer.run(generation: 1)
        wait(for: "format 1 44100/2/24", renderer)
        let hold = renderer.hold()
        expectSoon("the hold") { renderer.processedCommands >= hold }
        renderer.run(generation: 2)
        streams[0].stream.gain = .unity
        streams[0].write(10_000)
        wait(for: "running 2", renderer)
        streams[0].end()
        wait(for: "heard 2", renderer)
        streams[1].end()
        wait(for: "ended 2", renderer)
        renderer.clear(releaseDevice: true)
        renderer.shutDown()
        return provider.calls.elements
    }

    /// Returns when the renderer has reported `text`.
    private func wait(for text: String, _ renderer: Renderer) {
        expectSoon(text) {
            while let event = renderer.nextEvent() { if event.text == text { return true } }
            return false
        }
    }

    // Without faults: Swift Testing records a backtrace of each error, on the thread that throws it.
    @Test("Pauses, streams taken back, many boundaries, ramps, step by step; also with DSD", arguments: [false, true])
    func byHand(isDSD: Bool) {
        _ = callsWhileStepping(isDSD: isDSD)
        #expect(callsWhileStepping(isDSD: isDSD) == 0)
    }

    private func callsWhileStepping(isDSD: Bool) -> Int {
        var (mono, deep) = (RenderBench.mono, RenderBoundaryTests.deep)
        (mono.isDSD, deep.isDSD) = (isDSD, isDSD)
        let card = SilentCard()
        let channel = RendererChannel()
        let loop = RenderLoop(
            provider: card, clock: ManualClock(), settings: RendererSettings(device: "silent"), channel: channel)
        let streams = (1...3).map { TestStream(id: $0, format: mono, ahead: 60_000) }
        for stream in streams {
            for index in 0..<40 {
                stream.write(index == 0 ? 100 : 10)
                stream.change(to: index % 2 == 0 ? deep : mono)
            }
            stream.write(100)
            stream.end()
        }
        func settle() { while loop.step() == .time(milliseconds: 0) {} }
        _ = loop.handle(.begin(.passUnretained(streams[0].stream)))
        _ = loop.handle(.run(generation: 1))
        settle()
        #expect(card.pending > 0)

        allocation_counter_start()
        for round in 0..<60 {
            card.advance(17)
            settle()
            switch round % 6 {
            case 0: _ = loop.handle(.hold)
            case 1: _ = loop.handle(.run(generation: UInt64(round)))
            case 2: _ = loop.handle(.setNext(.passUnretained(streams[1 + round / 6 % 2].stream)))
            case 3: _ = loop.handle(.setNext(nil))
            default: streams[0].stream.gain = Gain(rawValue: Int32(round) << 20)
            }
            settle()
            while channel.events.pop() != nil {}
        }
        let calls = allocation_counter_stop()
        #expect(card.heard > 400)
        return calls
    }
}

/// Counts the heap calls on the thread that uses the devices of another provider: from the first question about room,
/// which follows the opening, to `close`.
private final class CountingProvider: DeviceProvider {
    private let provider: any DeviceProvider
    /// The calls of each device that was closed.
    let calls = Recorder<Int>()

    init(_ provider: any DeviceProvider) { self.provider = provider }

    func open(_ request: DeviceRequest) throws(DeviceError) -> any PlaybackDevice {
        CountingDevice(try provider.open(request), calls)
    }
}

private final class CountingDevice: PlaybackDevice {
    private let device: any PlaybackDevice
    private let calls: Recorder<Int>
    private var isCounting = false

    init(_ device: any PlaybackDevice, _ calls: Recorder<Int>) {
        self.device = device
        self.calls = calls
    }

    var configuration: DeviceConfiguration { device.configuration }
    var isAudible: Bool { device.isAudible }

    func writableFrames() throws(DeviceFault) -> Int {
        if !isCounting {
            isCounting = true
            allocation_counter_start()
        }
        return try device.writableFrames()
    }

    func write(_ frames: Int, _ fill: (UnsafeMutableRawPointer, Int) -> Void) throws(DeviceFault) -> Int {
        try device.write(frames, fill)
    }

    func start() throws(DeviceFault) { try device.start() }
    func delayFrames() throws(DeviceFault) -> Int { try device.delayFrames() }
    func wait(wakeUp: Int32, milliseconds: Int32) throws(DeviceFault) -> Bool {
        try device.wait(wakeUp: wakeUp, milliseconds: milliseconds)
    }
    func drop() throws(DeviceFault) { try device.drop() }
    func rewindableFrames() throws(DeviceFault) -> Int { try device.rewindableFrames() }
    func rewind(_ frames: Int) throws(DeviceFault) -> Int { try device.rewind(frames) }
    func drain() throws(DeviceFault) { try device.drain() }
    func recover(from fault: DeviceFault) -> Bool { device.recover(from: fault) }

    func close() {
        if isCounting { calls.record(allocation_counter_stop()) }
        isCounting = false
        device.close()
    }
}

/// A device of 200 frames of 1000 Hz that stores no frames, and allocates nothing while it is open.
// @unchecked: used on the thread that renders alone, which is the test's.
private final class SilentCard: DeviceProvider, PlaybackDevice, @unchecked Sendable {
    let configuration = DeviceConfiguration(
        device: "silent", sampleRate: 1000, channelCount: 1, sampleFormat: .s32, significantBits: 32, bufferFrames: 200,
        periodFrames: 50, memoryMapped: true)
    let isAudible = true
    private let memory = UnsafeMutableRawPointer.allocate(byteCount: 1600, alignment: 16)
    private(set) var pending = 0
    private(set) var heard = 0

    deinit { memory.deallocate() }

    func advance(_ frames: Int) {
        heard += min(frames, pending)
        pending -= min(frames, pending)
    }

    func open(_ request: DeviceRequest) -> any PlaybackDevice { self }

    func writableFrames() -> Int { 200 - pending }

    func write(_ frames: Int, _ fill: (UnsafeMutableRawPointer, Int) -> Void) -> Int {
        fill(memory, frames)
        pending += frames
        return frames
    }

    func start() {}

    func delayFrames() -> Int { pending }

    func wait(wakeUp: Int32, milliseconds: Int32) -> Bool { false }
    func drop() { pending = 0 }
    func rewindableFrames() -> Int { pending }
    func rewind(_ frames: Int) -> Int {
        pending -= frames
        return frames
    }
    func drain() { advance(200) }

    func recover(from fault: DeviceFault) -> Bool {
        pending = 0
        return true
    }

    func close() {}
}
