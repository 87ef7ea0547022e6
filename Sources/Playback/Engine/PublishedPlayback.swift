import Output
import PCM
import Platform

/// The values that other threads may read, and the bus of the messages about them. Only control changes them.
/// `@unchecked Sendable` is safe because `lock` guards the value, and any thread may read the renderer's position.
package final class PublishedPlayback: @unchecked Sendable {
    struct Value {
        var mediaProduct: MediaProduct?
        var context: PlaybackContext?
        var state = PlaybackState.idle
        var device: DeviceConfiguration?
        var deviceProblem: String?
        /// The scaling of the active product.
        var scaling = SampleScaling()
        /// The stream that is or will be heard, and its start in the product.
        var stream: UInt64?
        var startPosition: Double?
        /// The stream that follows.
        var following: UInt64?
        /// The pipeline of the active product, used only for its waits and its buffer.
        var pipeline: MediaPipeline?
    }

    package let bus: Bus<PlaybackMessage>
    private let renderer: Renderer
    private let lock = Lock()
    private var current = Value()

    package init(_ renderer: Renderer, _ bus: Bus<PlaybackMessage>) { (self.renderer, self.bus) = (renderer, bus) }

    // MARK: Any thread

    var value: Value { lock.withLock { current } }

    package var isWaitingForMedium: Bool {
        let value = value
        return value.state == .stalled && value.pipeline?.isWaitingForMedium ?? false
    }

    /// The position that is heard in the active product, in seconds.
    var position: Double? {
        let value = value
        guard let start = value.startPosition else { return nil }
        guard let stream = value.stream else { return start }
        let position = renderer.position
        if position.stream == stream { return Double(position.nanoseconds) / 1e9 }
        // The next product is heard, and control has not handled the event yet.
        if position.stream == value.following { return value.context?.duration ?? start }
        return start
    }

    // MARK: Control

    func update(_ change: (inout Value) -> Void) { lock.withLock { change(&current) } }

    /// Call it after the values were changed.
    func send(_ message: PlaybackMessage) { bus.send(message) }

    /// Shows the product, context and state of the messages.
    func show(_ machine: PlaybackStateMachine) {
        let product = machine.currentItem == nil ? nil : machine.announced
        update {
            $0.mediaProduct = product
            $0.context = machine.context
            $0.state = machine.playbackState
            if product == nil {
                $0.stream = nil
                $0.startPosition = nil
            }
        }
    }

    /// Shows the stream that is or will be heard.
    func show(_ stream: PCMStream) {
        update {
            $0.stream = stream.id
            $0.startPosition = Double(stream.startPosition) / 1e9
        }
    }

    /// Shows the target of a seek, in seconds, until there is a stream that begins there.
    func showSeek(to seconds: Double) {
        update {
            $0.stream = nil
            // The end of a product of unknown length is known only when the decoder reaches it.
            if seconds <= DecoderWorker.farthestPosition { $0.startPosition = seconds }
        }
    }

    /// Shows the open device, or the problem why none is open. Both are nil while no device is needed.
    func show(_ device: DeviceConfiguration?, problem: String? = nil) {
        update { ($0.device, $0.deviceProblem) = (device, problem) }
    }
}
