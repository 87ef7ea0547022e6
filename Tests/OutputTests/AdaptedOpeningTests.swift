import PCM
import Testing

@testable import Output

@Suite("Opening a card for channels that it does not have (docs/playback.md, 8)")
struct AdaptedOpeningTests {
    private func request(channels: Int) -> DeviceRequest {
        var request = DeviceRequest.stereo("card")
        request.format.channelCount = channels
        request.allowsAdaptation = true
        return request
    }

    @Test(
        "It is opened with a count that it has, and says which others there are",
        arguments: [(1, 2), (2, 2), (3, 6), (4, 6), (6, 6), (8, 6)])
    func opened(channels: Int, expected: Int) throws {
        let device = try Card(channels: [2, 6]).open(request(channels: channels))
        defer { device.close() }
        #expect(device.configuration.channelCount == expected)
        #expect(device.configuration.channels.all == [2, 6])
        let format = PCMFormat(sampleRate: 44_100, channelCount: channels, bitDepth: 16)
        #expect(device.configuration.adaptation(of: format) == ChannelAdaptation(from: channels, to: expected))
    }

    @Test("A rate that it does not have stays an error with all channel counts")
    func rate() throws {
        var request = request(channels: 1)
        request.format.sampleRate = 96_000
        let card = try Card(channels: [2])
        #expect(throws: DeviceError.rateNotSupported(device: "card", rate: 96_000, supported: [44_100, 48_000])) {
            try card.open(request)
        }
    }
}
