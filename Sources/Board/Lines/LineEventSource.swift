/// A change of an input line.
public struct LineEdge: Equatable, Sendable {
    /// Whether the line is active from now on.
    public var isActive: Bool
    /// When, in nanoseconds of CLOCK_MONOTONIC.
    public var time: Int64

    public init(isActive: Bool, time: Int64) {
        self.isActive = isActive
        self.time = time
    }
}

/// An input line whose edges are watched. Thread: the event loop's.
public protocol LineEventSource: AnyObject {
    /// Readable while there are edges to take.
    var descriptor: Int32 { get }

    /// Takes some of the edges that are waiting, the oldest first. Does not block.
    /// - Returns: none only when none is waiting.
    func takeEdges() throws(LineError) -> [LineEdge]

    /// What the line is now.
    func isActive() throws(LineError) -> Bool
}

/// An output line. The line is given back with the object. Thread: the event loop's.
public protocol LineOutput: AnyObject {
    func set(_ isActive: Bool) throws(LineError)
}

/// Where lines come from: the machine's GPIO chips, or what a test drives.
public protocol LineProvider: AnyObject {
    /// Requests an input line with both edges; it is given back with the object.
    /// - Parameter debounce: how long the line is to be quiet before it has changed, in milliseconds. Where the
    ///   kernel cannot do that, and with 0, it changes with each edge.
    func input(
        _ line: LineReference, active: ActiveLevel, bias: LineBias, debounce: Int
    ) throws(LineError) -> any LineEventSource

    /// Requests an output line that has the value `initially` from its first moment on.
    func output(_ line: LineReference, active: ActiveLevel, initially: Bool) throws(LineError) -> any LineOutput
}
