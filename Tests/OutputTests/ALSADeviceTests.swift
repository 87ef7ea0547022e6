import CALSA
import Foundation
import PCM
import Testing

@testable import Output

@Suite("A device of alsa-lib")
struct ALSADeviceTests {
    /// Devices that can do no more than some hardware, from alsa-lib's own plug-ins.
    static let narrow = ALSAConfiguration.text(
        """
        pcm.null { type null }
        pcm.pair {
            type multi
            slaves.a { pcm null channels 2 }
            bindings.0 { slave a channel 0 }
            bindings.1 { slave a channel 1 }
        }
        pcm.plug { type plug slave { pcm null rate 48000 format S16_LE } }
        pcm.rate { type rate slave { pcm null rate 48000 } }
        pcm.broken { type file slave.pcm null file "/dev/null" format nonsense }
        """)

    func open(_ request: DeviceRequest, _ configuration: ALSAConfiguration = .builtIn) throws(DeviceError)
        -> any PlaybackDevice
    {
        try ALSADeviceProvider(configuration: configuration).open(request)
    }

    @Test("what follows a plug-in is not known; a card, a file and nothing are the end of the way")
    func route() throws {
        #expect(try open(.stereo("null")).configuration.route == .direct)
        #expect(try open(.stereo("file:FILE=/dev/null,FORMAT=raw")).configuration.route == .direct)
        #expect(try open(.stereo("pair"), Self.narrow).configuration.route == .plugIn)
        let types: [(snd_pcm_type_t, DeviceRoute)] = [
            (SND_PCM_TYPE_HW, .direct), (SND_PCM_TYPE_IOPLUG, .server), (SND_PCM_TYPE_DMIX, .server),
            (SND_PCM_TYPE_SHARE, .server), (SND_PCM_TYPE_SOFTVOL, .plugIn), (SND_PCM_TYPE_HOOKS, .plugIn),
            (SND_PCM_TYPE_ROUTE, .plugIn), (SND_PCM_TYPE_EXTPLUG, .plugIn),
        ]
        for (type, route) in types { #expect(DeviceRoute(type) == route, "\(type)") }
    }

    @Test(
        "runs at every rate, channel count and format that it is asked for and can do",
        arguments: DeviceCapabilities.usualRates + [37_800], [1, 2, 3, 8])
    func exactFormat(rate: Int, channelCount: Int) throws {
        let format = PCMFormat(sampleRate: rate, channelCount: channelCount, bitDepth: 24)
        for sampleFormat in SampleFormat.allCases {
            let request = DeviceRequest(device: "null", format: format, sampleFormat: sampleFormat)
            let configuration = try open(request).configuration
            #expect(configuration.sampleRate == rate)
            #expect(configuration.channelCount == channelCount)
            #expect(configuration.sampleFormat == sampleFormat)
            #expect(configuration.significantBits == sampleFormat.bitDepth)
            #expect(configuration.memoryMapped)
        }
    }

    @Test("the widest sample format is taken when none is asked for")
    func widestFormat() throws {
        #expect(try open(.stereo("null")).configuration.sampleFormat == .s32)
    }

    @Test("buffer and periods come near to what is asked for, and there are at least two periods")
    func bufferSizes() throws {
        var request = DeviceRequest.stereo("null", rate: 48_000)
        let usual = try open(request).configuration
        #expect(usual.bufferFrames == 9_600)
        #expect(usual.periodFrames == 2_400)
        request.bufferMilliseconds = 50
        request.periodCount = 1
        let short = try open(request).configuration
        #expect(short.bufferFrames == 2_400)
        #expect(short.periodFrames == 1_200)
    }

    @Test("what the device cannot do is an error that says what it can")
    func refusals() {
        func error(_ request: DeviceRequest) -> DeviceError? {
            do throws(DeviceError) {
                _ = try open(request, Self.narrow)
                return nil
            } catch {
                return error
            }
        }
        let surround = PCMFormat(sampleRate: 48_000, channelCount: 6, bitDepth: 16)
        #expect(
            error(DeviceRequest(device: "pair", format: surround))
                == .channelsNotSupported(device: "pair", channels: 6, supported: [2]))
        #expect(error(.stereo("nowhere")) == .absent(device: "nowhere", present: DeviceName.present()))
        guard case .refused("broken", _, let reason)? = error(.stereo("broken")) else {
            Issue.record("a PCM with a broken definition was opened")
            return
        }
        #expect(!reason.isEmpty)
    }

    @Test("a PCM that resamples or converts in secret is refused", arguments: ["plug", "rate"])
    func secretConversion(device: String) {
        #expect {
            try open(.stereo(device, rate: 44_100), Self.narrow)
        } throws: { error in
            if case .refused(device, -ENOTSUP, _)? = error as? DeviceError { true } else { false }
        }
    }

    @Test("a card that is not there is absent", arguments: ["hw:CARD=NoSuchCard,DEV=0", "hw:31,0", "hw:NoSuchCard"])
    func absent(device: String) {
        for configuration in [ALSAConfiguration.system, .builtIn] {
            #expect(throws: DeviceError.absent(device: device, present: DeviceName.present())) {
                try open(.stereo(device), configuration)
            }
        }
    }

    @Test("what was written before the start fills the buffer; afterwards there is room again")
    func room() throws {
        let device = try open(.stereo("null"))
        let size = device.configuration.bufferFrames
        #expect(try device.writableFrames() == size)
        #expect(try device.write(size - 10) { _, _ in } == size - 10)
        #expect(try device.writableFrames() == 10)
        #expect(try device.write(100) { _, _ in } == 10)
        #expect(try device.write(100) { _, _ in } == 0)
        try device.start()
        #expect(try device.writableFrames() == size)
        try device.start()
        #expect(try device.delayFrames() == 0)
        try device.drop()
        #expect(try device.writableFrames() == size)
        #expect(try device.write(size) { _, _ in } == size)
    }

    @Test("the pieces that are filled are consecutive and add up")
    func consecutivePieces() throws {
        let device = try open(.stereo("null"))
        let size = device.configuration.bufferFrames
        #expect(try device.write(size / 3) { _, _ in } == size / 3)
        try device.start()
        var pieces: [Int] = []
        #expect(try device.write(size) { _, frames in pieces.append(frames) } == size)
        // The end of the mapped memory is between them.
        #expect(pieces == [size - size / 3, size / 3])
    }

    @Test("every fault but the device's end is recovered from: it can be written to again")
    func recovery() throws {
        let device = try open(.stereo("null"))
        let size = device.configuration.bufferFrames
        for fault in [DeviceFault.underrun, .suspended, .failed(code: -EIO)] {
            #expect(try device.write(size / 2) { _, _ in } == size / 2)
            try device.start()
            #expect(device.recover(from: fault))
            #expect(try device.writableFrames() == size)
            #expect(try device.write(size) { _, _ in } == size)
            try device.drop()
        }
        #expect(!device.recover(from: .vanished))
    }
}
