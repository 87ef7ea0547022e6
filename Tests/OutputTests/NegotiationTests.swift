import CLinux
import PCM
import Testing

@testable import Output

@Suite("The parameters of an opened device")
struct NegotiationTests {
    /// A USB DAC: wide formats, no 32 kHz.
    let dac = DeviceCapabilities(rates: [44_100, 48_000, 96_000], channels: [2], sampleFormats: [.s24Packed, .s16])

    func request(rate: Int = 44_100, channels: Int = 2, _ sampleFormat: SampleFormat? = nil) -> DeviceRequest {
        DeviceRequest(
            device: "hw:DAC", format: PCMFormat(sampleRate: rate, channelCount: channels, bitDepth: 16),
            sampleFormat: sampleFormat)
    }

    @Test(
        "the widest format of the device, in any order of its list",
        arguments: [
            ([.s16], .s16),
            ([.s16, .s24Packed], .s24Packed),
            ([.s24Packed, .s24], .s24),
            ([.s16, .s24, .s32, .s24Packed], .s32),
            ([.iec958Subframe, .s16], .s16),
            ([.iec958Subframe], .iec958Subframe),
        ] as [([SampleFormat], SampleFormat)])
    func widest(formats: [SampleFormat], expected: SampleFormat) throws {
        var capabilities = dac
        capabilities.sampleFormats = formats
        #expect(try capabilities.sampleFormat(for: request()) == expected)
    }

    @Test("a format that is asked for is taken, or nothing is")
    func pinned() throws {
        #expect(try dac.sampleFormat(for: request(.s16)) == .s16)
        #expect(throws: DeviceError.sampleFormatNotSupported(device: "hw:DAC", requested: .s32)) {
            try dac.sampleFormat(for: request(.s32))
        }
    }

    @Test("the error names the rates, then the channels, then the format")
    func errors() {
        #expect(
            throws: DeviceError.rateNotSupported(device: "hw:DAC", rate: 32_000, supported: [44_100, 48_000, 96_000])
        ) { try dac.sampleFormat(for: request(rate: 32_000, channels: 6, .s32)) }
        #expect(throws: DeviceError.channelsNotSupported(device: "hw:DAC", channels: 6, supported: [2])) {
            try dac.sampleFormat(for: request(channels: 6, .s32))
        }
        let floatOnly = DeviceCapabilities(rates: [44_100], channels: [2], sampleFormats: [])
        #expect(throws: DeviceError.sampleFormatNotSupported(device: "hw:DAC", requested: nil)) {
            try floatOnly.sampleFormat(for: request())
        }
    }

    @Test(
        "buffer sizes",
        arguments: [
            (44_100, 200, 4, 8_820, 4), (48_000, 50, 1, 2_400, 2), (8_000, 0, 4, 8, 4), (8_000, -5, 0, 8, 2),
            (768_000, 60_000, 4, 7_680_000, 4), (352_800, 10_000, 4, 3_528_000, 4), (1_000, 1, 16, 16, 16),
        ])
    func buffer(rate: Int, milliseconds: Int, periods: Int, frames: Int, count: Int) {
        var request = request(rate: rate)
        request.bufferMilliseconds = milliseconds
        request.periodCount = periods
        let size = BufferSize(for: request)
        #expect(size.bufferFrames == frames)
        #expect(size.periodCount == count)
    }

    @Test(
        "a clock less than a hertz away runs at the reported rate",
        arguments: [
            (44_100, 44_100, 1, 44_100),
            (44_100, 0, 0, 44_100),
            (48_000, 24_576_000, 512, 48_000),
            (44_100, 1_193_182, 27, 44_191),
            (48_000, 95_999, 2, 48_000),
            (48_000, 47_999, 1, 47_999),
            // Numbers that a broken driver reports.
            (.max, .max, .max, 1),
            (48_000, 0, .max, 0),
        ] as [(UInt32, UInt32, UInt32, Int)])
    func installedRate(reported: UInt32, numerator: UInt32, denominator: UInt32, expected: Int) {
        let rate = InstalledRate(reported: reported, numerator: numerator, denominator: denominator)
        #expect(rate.hertz == expected)
    }

    @Test(
        "a request that gets the same answer the next time is an error of the product; any other is a missing device",
        arguments: [
            (.rateNotSupported(device: "", rate: 1, supported: []), true),
            (.channelsNotSupported(device: "", channels: 4, supported: [2, 6]), true),
            (.sampleFormatNotSupported(device: "", requested: nil), true),
            (.refused(device: "", code: -EINVAL, reason: ""), true),
            (.refused(device: "", code: -ENOMEM, reason: ""), true),
            (.refused(device: "", code: -EISDIR, reason: ""), true),
            (.refused(device: "", code: -EIO, reason: ""), false),
            (.refused(device: "", code: -ENOENT, reason: ""), false),
            (.absent(device: "", present: []), false), (.busy(device: ""), false), (.noPermission(device: ""), false),
        ] as [(DeviceError, Bool)])
    func permanence(error: DeviceError, isPermanent: Bool) {
        #expect(error.isPermanent == isPermanent)
    }

    @Test(
        "channel counts are named one by one, and runs as a range",
        arguments: [
            ([], "none"), ([2], "2"), ([1, 2], "1, 2"), ([2, 6], "2, 6"), ([1, 2, 3, 6, 8], "1 to 3, 6, 8"),
        ] as [([Int], String)])
    func channelCounts(counts: [Int], text: String) {
        #expect(DeviceCapabilities.text(ofChannels: counts) == text)
    }
}
