import Output
import PCM

/// Sends commands to the renderer, and recognises the events that they have made outdated.
///
/// Thread: only control.
final class RendererCommands {
    private let renderer: Renderer
    /// Whether the renderer should run.
    private(set) var isRunning = false
    /// The last command that replaced the current streams. Earlier events about streams are outdated.
    private var lastCut: UInt64 = 0
    /// The last command that released the device.
    private var lastRelease: UInt64 = 0

    init(_ renderer: Renderer) { self.renderer = renderer }

    /// The number of the last command.
    var sent: UInt64 { renderer.sentCommands }

    func begin(_ stream: PCMStream) { lastCut = renderer.begin(stream) }

    func follow(_ stream: PCMStream?) { renderer.setNext(stream) }

    func run(generation: UInt64) {
        isRunning = true
        renderer.run(generation: generation)
    }

    func hold() {
        isRunning = false
        renderer.hold()
    }

    func silence(releaseDevice: Bool) {
        isRunning = false
        lastCut = renderer.clear(releaseDevice: releaseDevice)
        if releaseDevice { lastRelease = lastCut }
    }

    /// Makes all events about the current streams outdated, because their audio is decoded again from another position.
    func cutOff() { lastCut = renderer.sentCommands }

    func askBeforeReopening() { renderer.askBeforeReopening() }

    func reopen(question: UInt64) { renderer.reopen(question: question) }

    func use(_ device: String) { renderer.use(device) }

    /// Whether an event about a stream is older than the last cut.
    func isCutOff(_ event: RendererEvent) -> Bool { event.processedCommands < lastCut }

    /// Whether an event about the device is older than its release.
    func isReleased(_ event: RendererEvent) -> Bool { event.processedCommands < lastRelease }
}
