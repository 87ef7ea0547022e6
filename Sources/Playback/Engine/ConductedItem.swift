import Output
import PCM

/// A product's pipeline and its current stream.
struct ConductedItem {
    let product: MediaProduct
    let pipeline: MediaPipeline
    var stream: PCMStream?
    var loudness = ProductLoudness()
    /// The changes of the representation that are decoded but not heard yet, with their positions in seconds.
    var representations: [(representation: AudioRepresentation, position: Double)] = []
    /// Whether the content service streams it: its playbackinfo was requested to play it.
    var isStreamed = false
}

/// A stream that the renderer may still use.
struct RetiredStream {
    let stream: PCMStream
    /// The command after which the renderer does not use the stream; nil before the command is sent.
    var command: UInt64?
}

/// Closures that are posted to the loop hold this object: a loop that has ended keeps closures that come too late.
/// `@unchecked Sendable` is safe because control alone reads and writes `conductor`.
final class ConductorLink: @unchecked Sendable {
    /// The conductor; nil after the end. Used only on the control thread.
    var conductor: PlaybackConductor?
}
