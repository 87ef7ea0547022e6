/// Decides whether enough of a stream has arrived to begin, or to continue after a stall (docs/playback.md, 15.8).
///
/// Thread: the decoder thread.
package struct BufferCondition {
    private let progress: StreamProgress
    private let throughput: Throughput

    package init(_ progress: StreamProgress, _ throughput: Throughput) {
        (self.progress, self.throughput) = (progress, throughput)
    }

    /// - Parameters:
    ///   - position: the position of the next frame, in seconds.
    ///   - duration: the duration of the product, in seconds; nil while unknown.
    package func holds(at position: Double, of duration: Double?) -> Bool {
        let buffered = progress.buffered
        let missing = duration.map { $0 - position - buffered.seconds }
        return buffered.isEnough(missing: missing, bitsPerSecond: throughput.bitsPerSecond)
    }
}
