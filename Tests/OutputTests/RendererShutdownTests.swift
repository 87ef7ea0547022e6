import OutputTestSupport
import PCM
import Platform
import TestSupport
import Testing

@testable import Output

@Suite("Shutting down while the device blocks")
struct RendererShutdownTests {
    /// 300 frames.
    private static func stream(_ id: Int) -> TestStream {
        let stream = TestStream(id: id, format: RenderBench.mono)
        stream.write(300)
        return stream
    }

    /// - Parameter stream: lives as long as the renderer may read it.
    private func rendererThatPlays(_ stream: TestStream, _ provider: any DeviceProvider) throws -> Renderer {
        let renderer = try Renderer(
            provider: provider, clock: ManualClock(), settings: RendererSettings(device: "simulated"),
            priority: .normal)
        renderer.begin(stream.stream)
        renderer.run(generation: 1)
        return renderer
    }

    @Test("an opening that never returns does not keep the program from ending")
    func blockedOpening() throws {
        let provider = BlockingProvider()
        let stream = Self.stream(1)
        defer { withExtendedLifetime(stream) {} }
        let renderer = try rendererThatPlays(stream, provider)
        provider.waitUntilEntered()
        // More than the queue of commands holds: control does not wait for the audio thread.
        for _ in 1...1000 { renderer.nudge() }
        #expect(!renderer.shutDown(patience: 1))
        // The thread ends by itself as soon as it can, and closes the device that it has opened.
        provider.letGo()
        provider.card.waitUntil("the device to be closed") { $0.openingCount == 1 && !$0.isOpen }
    }

    @Test("a device that answers is closed before shutting down returns")
    func usual() throws {
        let card = PacedCard()
        let stream = Self.stream(1)
        defer { withExtendedLifetime(stream) {} }
        let renderer = try rendererThatPlays(stream, card)
        card.waitUntil("the start") { $0.isStarted }
        #expect(renderer.shutDown(patience: -1))
        #expect(!card.isOpen)
    }

    @Test("commands beyond the queue's room arrive later, in order")
    func overflow() throws {
        let provider = BlockingProvider()
        let streams = (1...2).map(Self.stream)
        for stream in streams { stream.end() }
        let renderer = try rendererThatPlays(streams[0], provider)
        provider.waitUntilEntered()
        for _ in 1...1000 { renderer.nudge() }
        renderer.begin(streams[1].stream)
        renderer.run(generation: 2)
        provider.card.playFreely()
        provider.letGo()
        var events: [String] = []
        while events.last != "ended 2" {
            if let event = renderer.nextEvent() { events.append(event.text) }
        }
        #expect(renderer.processedCommands == renderer.sentCommands)
        #expect(renderer.shutDown(patience: -1))
    }
}

/// A card whose opening blocks until the test releases it.
// @unchecked: `condition` guards the mutable state.
private final class BlockingProvider: DeviceProvider, @unchecked Sendable {
    let card = PacedCard()
    private let condition = Condition()
    // Guarded by `condition`.
    private var hasEntered = false
    private var mayOpen = false

    func waitUntilEntered() { condition.waitOrEndRun("the opening of the device") { hasEntered } }
    func letGo() { condition.update { mayOpen = true } }

    func open(_ request: DeviceRequest) throws(DeviceError) -> any PlaybackDevice {
        condition.update { hasEntered = true }
        condition.waitInTime { mayOpen }
        return try card.open(request)
    }
}
