import Media

/// A decoder whose source fetches the content while it is decoded, or can replace it after a failure.
///
/// Thread: the decoder thread.
public protocol FetchingDecoder: AudioDecoder {
    /// Whether all of the content has arrived, so that the next product may be fetched.
    var isFetched: Bool { get }
    /// The quality of the audio that is read now; nil for other media, and while it is unknown. A source that starts
    /// over may get another quality.
    var audioQuality: AudioQuality? { get }
    /// The source's own description of the last error; nil when the thrown error describes it completely.
    var failure: PlayerError? { get }

    /// Begins the transfers for which the buffer has room. Reading also begins them.
    func fetchAhead()

    /// Returns whether enough has arrived to begin at this position, or to continue there after a stall.
    /// - Parameter position: the position in seconds.
    func hasEnough(at position: Double) -> Bool
}
