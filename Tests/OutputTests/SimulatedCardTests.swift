import AllocationCounter
import CALSA
import Foundation
import PCM
import Platform
import SimulatedCard
import Synchronization
import TestSupport
import Testing

@testable import Output

/// A sound card whose converter moves when the test allows it, under the real alsa-lib.
final class Card {
    let raw: OpaquePointer

    init(
        rates: [UInt32] = [44_100, 48_000], formats: [snd_pcm_format_t] = [SND_PCM_FORMAT_S16_LE],
        channels: [UInt32] = [2], memoryMapped: Bool = true, refusesSilence: Bool = false,
        stutters: Bool = false, latency: UInt = 0, positions: [snd_pcm_chmap_position] = [],
        mapType: snd_pcm_chmap_type = SND_CHMAP_TYPE_FIXED, refusesMaps: Bool = false
    ) throws {
        var abilities = simulated_abilities()
        withUnsafeMutableBytes(of: &abilities.rates) { $0.copyBytes(from: rates.withUnsafeBytes(Array.init)) }
        let formatNumbers = formats.map { UInt32($0.rawValue) }
        withUnsafeMutableBytes(of: &abilities.formats) { $0.copyBytes(from: formatNumbers.withUnsafeBytes(Array.init)) }
        withUnsafeMutableBytes(of: &abilities.channels) { $0.copyBytes(from: channels.withUnsafeBytes(Array.init)) }
        abilities.memory_mapped = memoryMapped
        abilities.refuses_silence = refusesSilence
        abilities.stutters = stutters
        abilities.latency = latency
        let codes = positions.map(\.rawValue)
        withUnsafeMutableBytes(of: &abilities.positions) { $0.copyBytes(from: codes.withUnsafeBytes(Array.init)) }
        abilities.map_type = mapType.rawValue
        abilities.refuses_maps = refusesMaps
        raw = try #require(simulated_card_create(&abilities))
    }

    deinit { simulated_card_free(raw) }

    /// - Parameter clock: for the time that draining may take; it moves only when a test moves it.
    func open(
        _ request: DeviceRequest = .stereo("card"), clock: any MonotonicClock = ManualClock()
    ) throws(DeviceError) -> ALSADevice {
        try ALSADeviceProvider(configuration: .builtIn, memoryMapping: true, clock: clock)
            .open(request, on: PCMHandle(adopting: simulated_card_pcm(raw)))
    }

    /// The channel map that was set last.
    func positions(_ count: Int) -> [snd_pcm_chmap_position] {
        (0..<UInt32(count)).map { snd_pcm_chmap_position(simulated_card_position(raw, $0)) }
    }

    var written: [UInt8] {
        var count = 0
        let start = simulated_card_written(raw, &count)
        return Array(UnsafeBufferPointer(start: start, count: count))
    }
}

@Suite("A device on a card that moves and fails at the test's word")
struct SimulatedCardTests {
    @Test("what the card cannot do is an error that says what it can")
    func refusals() throws {
        func error(_ request: DeviceRequest) throws -> DeviceError? {
            let card = try Card(
                formats: [SND_PCM_FORMAT_S16_LE, SND_PCM_FORMAT_S24_3LE], channels: [2, 6], memoryMapped: false)
            do throws(DeviceError) {
                try card.open(request).close()
                return nil
            } catch {
                return error
            }
        }
        #expect(
            try error(.stereo("card", rate: 96_000))
                == .rateNotSupported(device: "card", rate: 96_000, supported: [44_100, 48_000]))
        #expect(try error(.stereo("card", .s24)) == .sampleFormatNotSupported(device: "card", requested: .s24))
        // 4 is between the card's channel counts.
        for channels in [1, 3, 4, 5, 8] {
            let format = PCMFormat(sampleRate: 44_100, channelCount: channels, bitDepth: 16)
            #expect(
                try error(DeviceRequest(device: "card", format: format))
                    == .channelsNotSupported(device: "card", channels: channels, supported: [2, 6]))
        }
        #expect(try error(.stereo("card")) == nil)
    }

    @Test("the configuration says what the device really runs at", arguments: [true, false])
    func configuration(memoryMapped: Bool) throws {
        let card = try Card(formats: [SND_PCM_FORMAT_S16_LE, SND_PCM_FORMAT_S24_3LE], memoryMapped: memoryMapped)
        let device = try card.open(.stereo("card", rate: 48_000))
        var expected = DeviceConfiguration(
            device: "card", sampleRate: 48_000, channelCount: 2, sampleFormat: .s24Packed, significantBits: 24,
            bufferFrames: 9_600, periodFrames: 2_400, memoryMapped: memoryMapped, rates: [44_100, 48_000])
        // For alsa-lib it is an external plug-in, as those of sound servers are.
        expected.route = .server
        #expect(device.configuration == expected)
        device.close()
    }

    @Test("the clock starts on request, stops when empty, and silence follows the frames", arguments: [true, false])
    func softwareParameters(refusesSilence: Bool) throws {
        let card = try Card(refusesSilence: refusesSilence)
        let device = try card.open()
        let parameters = simulated_card_parameters(card.raw)
        #expect(parameters.start_threshold == parameters.boundary)
        #expect(parameters.stop_threshold == UInt(device.configuration.bufferFrames))
        #expect(parameters.avail_min == UInt(device.configuration.bufferFrames / 2))
        #expect(parameters.silence_threshold == 0)
        #expect(parameters.silence_size == (refusesSilence ? 0 : parameters.boundary))
        device.close()
    }

    @Test("the clock runs from start to drop; delay and room are what the converter left", arguments: [true, false])
    func clock(memoryMapped: Bool) throws {
        let card = try Card(memoryMapped: memoryMapped)
        let device = try card.open()
        let size = device.configuration.bufferFrames
        #expect(try device.write(size + 1) { _, _ in } == size)
        #expect(try device.delayFrames() == size)
        #expect(simulated_card_starts(card.raw) == 0)
        try device.start()
        try device.start()
        #expect(simulated_card_starts(card.raw) == 1)
        simulated_card_hear(card.raw, 100)
        #expect(try device.delayFrames() == size - 100)
        #expect(try device.writableFrames() == 100)
        #expect(try device.write(500) { _, _ in } == 100)
        try device.drop()
        #expect(try device.delayFrames() == 0)
        #expect(try device.writableFrames() == size)
        device.close()
    }

    @Test("every byte arrives, in order, around the end of the buffer", arguments: [true, false])
    func bytes(memoryMapped: Bool) throws {
        let card = try Card(memoryMapped: memoryMapped)
        let device = try card.open()
        let signal = TestSignal(frames: 3 * device.configuration.bufferFrames + 17, frameBytes: 4)
        let pieces = [1, 7, 333, 5_000]
        try signal.play(into: device, pieces: pieces) {
            simulated_card_hear(card.raw, min(300, (try? device.delayFrames()) ?? 0))
        }
        #expect(card.written == signal.bytes)
        device.close()
    }

    @Test("what the device does not take at once is kept, counted and handed over next")
    func stuttering() throws {
        let card = try Card(memoryMapped: false, stutters: true)
        let device = try card.open()
        #expect(try device.write(1_000) { destination, frames in memset(destination, 7, frames * 4) } == 1_000)
        #expect(card.written.count == 500 * 4)
        #expect(try device.delayFrames() == 1_000)
        #expect(try device.writableFrames() == device.configuration.bufferFrames - 1_000)
        simulated_card_hear_when_polled(card.raw)
        try device.drain()
        #expect(card.written == Array(repeating: 7, count: 1_000 * 4))
        #expect(simulated_card_heard(card.raw) == 1_000)
        device.close()
    }

    @Test("waiting ends when there is room, when woken and when time is over")
    func waiting() throws {
        let card = try Card()
        let device = try card.open()
        let pipe = Pipe()
        let wakeUp = pipe.fileHandleForReading.fileDescriptor
        _ = try device.wait(wakeUp: wakeUp, milliseconds: 1)
        simulated_card_set_ready(card.raw, true)
        _ = try device.wait(wakeUp: wakeUp, milliseconds: Deadline().milliseconds)
        simulated_card_set_ready(card.raw, false)
        pipe.fileHandleForWriting.write(Data([1]))
        _ = try device.wait(wakeUp: wakeUp, milliseconds: Deadline().milliseconds)
        device.close()
    }

    @Test("a converter that runs dry is an underrun, and is recovered from", arguments: [true, false])
    func underrun(memoryMapped: Bool) throws {
        let card = try Card(memoryMapped: memoryMapped)
        let device = try card.open()
        #expect(try device.write(100) { _, _ in } == 100)
        try device.start()
        simulated_card_hear(card.raw, 101)
        #expect(throws: DeviceFault.underrun) { try device.writableFrames() }
        #expect(device.recover(from: .underrun))
        #expect(try device.write(100) { _, _ in } == 100)
        try device.start()
        #expect(try device.delayFrames() == 100)
        device.close()
    }

    @Test(
        "every call on a card in trouble says what the trouble is",
        arguments: [
            (simulated_underrun, .underrun, true), (simulated_suspended, .suspended, true),
            (simulated_disconnected, .vanished, false),
        ] as [(simulated_fault, DeviceFault, Bool)])
    func faults(trouble: simulated_fault, fault: DeviceFault, recovers: Bool) throws {
        let card = try Card()
        let device = try card.open()
        #expect(try device.write(1_000) { _, _ in } == 1_000)
        try device.start()
        simulated_card_fail(card.raw, trouble)
        #expect(throws: fault) { try device.writableFrames() }
        #expect(throws: fault) { try device.wait(wakeUp: -1, milliseconds: Deadline().milliseconds) }
        #expect(throws: fault) { try device.start() }
        #expect(device.recover(from: fault) == recovers)
        if recovers {
            #expect(try device.delayFrames() == 0)
            #expect(try device.writableFrames() == device.configuration.bufferFrames)
        }
        device.close()
    }

    @Test("draining ends when the last frame was heard; the device can be written to again", arguments: [true, false])
    func drain(isStarted: Bool) throws {
        let card = try Card()
        let device = try card.open()
        #expect(try device.write(5_000) { _, _ in } == 5_000)
        if isStarted { try device.start() }
        simulated_card_hear_when_polled(card.raw)
        try device.drain()
        #expect(simulated_card_heard(card.raw) == 5_000)
        #expect(simulated_card_starts(card.raw) == 1)
        #expect(try device.delayFrames() == 0)
        #expect(try device.write(100) { _, _ in } == 100)
        device.close()
    }

    @Test("draining a converter that stands still ends nevertheless, with an error")
    func drainOfStandingConverter() throws {
        let card = try Card()
        var request = DeviceRequest.stereo("card")
        request.bufferMilliseconds = 20
        let clock = SteppingClock()
        let device = try card.open(request, clock: clock)
        #expect(try device.write(500) { _, _ in } == 500)
        try device.start()
        #expect(throws: DeviceFault.failed(code: -ETIMEDOUT)) { try device.drain() }
        #expect(try device.delayFrames() == 0)
        device.close()
    }

    @Test("behind the last frame the clock goes on with silence, so that what is on its way is heard")
    func runningOn() throws {
        let card = try Card(latency: 300)
        let device = try card.open()
        #expect(try device.write(5_000) { _, _ in } == 5_000)
        try device.start()
        try device.runOnBehindLastFrame()
        #expect(simulated_card_parameters(card.raw).stop_threshold == simulated_card_parameters(card.raw).boundary)
        simulated_card_hear(card.raw, 5_000)
        #expect(try device.delayFrames() == 300)
        #expect(simulated_card_heard(card.raw) == 4_700)
        simulated_card_hear(card.raw, 200)
        #expect(try device.delayFrames() == 100)
        simulated_card_hear(card.raw, 10_000)
        #expect(try device.delayFrames() == 0)
        #expect(simulated_card_heard(card.raw) == 5_000)
        simulated_card_hear_when_polled(card.raw)
        try device.drain()
        #expect(simulated_card_heard(card.raw) == 5_000)
        // And then it stops again when it has run dry.
        #expect(
            simulated_card_parameters(card.raw).stop_threshold == UInt(device.configuration.bufferFrames))
        #expect(try device.write(100) { _, _ in } == 100)
        device.close()
    }

    @Test("frames that come in time follow without a gap; those that come too late find an underrun")
    func goingOn() throws {
        let card = try Card()
        let device = try card.open()
        #expect(try device.write(1_000) { _, _ in } == 1_000)
        try device.start()
        try device.runOnBehindLastFrame()
        simulated_card_hear(card.raw, 900)
        #expect(try device.write(500) { _, _ in } == 500)
        #expect(try device.delayFrames() == 600)
        try device.runOnBehindLastFrame()
        simulated_card_hear(card.raw, 700)
        #expect(try device.delayFrames() == 0)
        #expect(try device.writableFrames() == device.configuration.bufferFrames)
        #expect(throws: DeviceFault.underrun) { try device.write(500) { _, _ in } }
        device.close()
    }

    @Test("a device that plays no silence behind the last frame stops there, as before")
    func noSilenceBehind() throws {
        let card = try Card(refusesSilence: true)
        let device = try card.open()
        #expect(try device.write(1_000) { _, _ in } == 1_000)
        try device.start()
        try device.runOnBehindLastFrame()
        #expect(simulated_card_parameters(card.raw).stop_threshold == UInt(device.configuration.bufferFrames))
        device.close()
    }

    // The fault itself is not thrown here: Swift Testing allocates for a backtrace whenever something is thrown.
    @Test(
        "recovery allocates nothing", .enabled(if: allocation_counter_works()), arguments: [true, false],
        [(simulated_underrun, .underrun), (simulated_suspended, .suspended)] as [(simulated_fault, DeviceFault)])
    func allocations(memoryMapped: Bool, trouble: (simulated_fault, DeviceFault)) throws {
        let card = try Card(memoryMapped: memoryMapped)
        let device = try card.open()
        #expect(try device.write(1_000) { _, _ in } == 1_000)
        try device.start()
        simulated_card_fail(card.raw, trouble.0)
        allocation_counter_start()
        let recovered = device.recover(from: trouble.1)
        let calls = allocation_counter_stop()
        #expect(recovered)
        #expect(calls == 0)
        device.close()
    }
}

/// A clock on which 50 ms pass whenever it is read.
private final class SteppingClock: MonotonicClock {
    private let reads = Atomic<Int64>(0)

    func now() -> Int64 { reads.add(1, ordering: .relaxed).newValue * 50_000_000 }
}
