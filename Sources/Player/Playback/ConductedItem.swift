import Output
import PCM

/// A product's pipeline and its current stream.
struct ConductedItem {
    let product: MediaProduct
    let pipeline: MediaPipeline
    var stream: PCMStream?
    var replayGain = ReplayGain()
    /// What changes in the stream ahead of what is heard, and where, in seconds.
    var encodings: [(encoding: AudioEncoding, position: Double)] = []
    /// Whether nothing of it is still to come over a network.
    var isFetched: Bool
}

/// A stream that the renderer may still use.
struct RetiredStream {
    let stream: PCMStream
    /// The command after which it does not use it; nil before the command is sent.
    var command: UInt64?
}

/// Closures that are posted to the loop hold this object: a loop that has ended keeps closures that come too late.
/// `@unchecked Sendable` is safe because control alone reads and writes `conductor`.
final class ConductorLink: @unchecked Sendable {
    /// nil after the end. Only for control.
    var conductor: PlaybackConductor?
}
