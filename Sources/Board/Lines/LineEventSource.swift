/// A change of an input line.
public struct LineEdge: Equatable, Sendable {
    /// Whether the line is active after the change.
    public var isActive: Bool
    /// The time of the change, in nanoseconds of CLOCK_MONOTONIC.
    public var time: Int64

    public init(isActive: Bool, time: Int64) {
        self.isActive = isActive
        self.time = time
    }
}

/// An input line whose edges are watched. Thread: the event loop's.
public protocol LineEventSource: AnyObject {
    /// Readable while edges are waiting.
    var descriptor: Int32 { get }

    /// Reads some of the waiting edges, the oldest first. Does not block.
    /// - Returns: an empty list only when no edge is waiting.
    func takeEdges() throws(LineError) -> [LineEdge]

    /// The current state of the line.
    func isActive() throws(LineError) -> Bool
}

/// An output line. `deinit` of the object releases the line. Thread: the event loop's.
public protocol LineOutput: AnyObject {
    func set(_ isActive: Bool) throws(LineError)
}

/// The source of lines: the machine's GPIO chips, or the simulated lines of a test.
public protocol LineProvider: AnyObject {
    /// Requests an input line with both edges; `deinit` of the object releases it.
    /// - Parameter debounce: the quiet time in milliseconds after which a change counts. With 0, and when the kernel
    ///   cannot filter, each edge counts.
    func input(
        _ line: LineReference, active: ActiveLevel, bias: LineBias, debounce: Int
    ) throws(LineError) -> any LineEventSource

    /// Requests an output line that starts with the value `initially`.
    func output(_ line: LineReference, active: ActiveLevel, initially: Bool) throws(LineError) -> any LineOutput
}
