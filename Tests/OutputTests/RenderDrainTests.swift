import PCM
import Platform
import SimulatedCard
import TestSupport
import Testing

@testable import Output

@Suite("Rendering to the end on a card that has frames on their way")
struct RenderDrainTests {
    @Test("the last frame is heard before the clock stops", arguments: [1_000, 8_820, 12_345])
    func lastFrame(frames: Int) throws {
        let card = try Card(latency: 441)
        let channel = RendererChannel()
        let loop = RenderLoop(
            provider: CardProvider(card), clock: ManualClock(), settings: RendererSettings(device: "card"),
            channel: channel)
        let stream = TestStream(id: 1, format: PCMFormat(sampleRate: 44_100, channelCount: 2, bitDepth: 16))
        #expect(stream.write(frames) == frames)
        stream.end()
        _ = loop.handle(.begin(.passUnretained(stream.stream)))
        _ = loop.handle(.run(generation: 1))
        simulated_card_set_ready(card.raw, true)
        var events: [String] = []
        // A card that is always a little faster than the loop.
        while events.last != "ended 1", events.count < 10 {
            _ = loop.step()
            if simulated_card_starts(card.raw) > 0 { simulated_card_hear(card.raw, 500) }
            while let event = channel.events.pop() { events.append(event.text) }
        }
        #expect(events == ["opened 44100/2", "running 1", "ended 1"])
        #expect(simulated_card_heard(card.raw) == frames)
        #expect(simulated_card_starts(card.raw) == 1)
        _ = loop.handle(.quit)
    }
}

/// Opens a simulated card, once.
// @unchecked: used on the test's thread alone.
private final class CardProvider: DeviceProvider, @unchecked Sendable {
    // Used by the test's own thread only.
    private let card: Card

    init(_ card: Card) { self.card = card }

    func open(_ request: DeviceRequest) throws(DeviceError) -> any PlaybackDevice { try card.open(request) }
}
