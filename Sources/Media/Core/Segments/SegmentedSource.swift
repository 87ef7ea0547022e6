/// The segments of one representation, over a network or in files.
///
/// Thread: one at a time; a decoder uses it only on the decoder thread.
public protocol SegmentedSource: AnyObject {
    /// The initialization segment (of ISO base media: `ftyp` and `moov`); nil when each segment initialises itself.
    var initialization: (any ByteSource)? { get }

    /// When the segments are played, according to the manifest. It may grow.
    var timeline: SegmentTimeline { get }

    /// The bytes of a segment. A segment that is not there yet has a source that answers `.notYet`.
    /// - Parameter index: as in `timeline`.
    /// - Returns: nil when there is no such segment, and none will come.
    func segment(_ index: Int) throws(ByteSourceError) -> (any ByteSource)?
}

/// When segments are played. These times are hints; the times in the segments themselves count.
public struct SegmentTimeline: Equatable, Sendable {
    /// Segments of one duration, one after the other.
    public struct Run: Equatable, Sendable {
        /// The start of the first segment, in seconds.
        public var start: Double
        /// The duration of each segment, in seconds.
        public var duration: Double
        /// The number of segments; at least one.
        public var count: Int

        public init(start: Double, duration: Double, count: Int) {
            self.start = start
            self.duration = duration
            self.count = max(1, count)
        }
    }

    /// The most segments, and the limit of the index of the first one: sums of both fit into 32 bits.
    package static let mostSegments = 1 << 30

    /// The index of the first available segment.
    public let firstIndex: Int
    /// The runs in order. Empty when no times are known.
    public let runs: [Run]
    /// Whether no more segments will come.
    public let isComplete: Bool

    public init(firstIndex: Int = 0, runs: [Run], isComplete: Bool) {
        self.firstIndex = firstIndex
        self.runs = runs
        self.isComplete = isComplete
    }

    /// The number of segments that are known.
    public var count: Int {
        runs.reduce(0) { sum, run in
            let (next, isBeyond) = sum.addingReportingOverflow(run.count)
            return isBeyond ? .max : next
        }
    }

    /// From the first segment to the end of the last one, in seconds; nil while more may come.
    public var duration: Double? {
        guard isComplete, let first = runs.first, let last = runs.last else { return nil }
        return last.start + last.duration * Double(last.count) - first.start
    }

    /// When a segment begins, in seconds; nil when it is not known.
    public func start(of index: Int) -> Double? {
        var rest = index - firstIndex
        guard rest >= 0 else { return nil }
        for run in runs {
            if rest < run.count { return run.start + Double(rest) * run.duration }
            rest -= run.count
        }
        return nil
    }

    /// The segment that is played at `seconds`: the first one before all of them, the last one after them. nil when the
    /// list is empty.
    public func index(at seconds: Double) -> Int? {
        var first = firstIndex
        var found: Int?
        for run in runs {
            if let found, seconds < run.start { return found }
            let elapsed = run.duration > 0 ? ((seconds - run.start) / run.duration).rounded(.down) : 0
            // Also for a number that is not finite.
            let place = elapsed > 0 ? (elapsed < Double(run.count) ? Int(elapsed) : run.count - 1) : 0
            found = first + place
            first += run.count
        }
        return found
    }
}
