import Board
import CLinux
import Platform

/// GPIO lines that a test moves: a pipe for each input, so that a real event loop wakes up for its edges.
public final class DrivenLines: LineProvider {
    /// The errors by line. A line in here cannot be requested or set.
    public var errors: [String: LineError] = [:]
    /// Every attempt, in order.
    public private(set) var attempts: [String] = []
    /// The debounce times that were requested from the kernel, in milliseconds.
    public private(set) var debounces: [String: Int] = [:]
    /// The requested lines.
    public private(set) var inputs: [String: DrivenInput] = [:]
    /// Every value that an output had, from the first on.
    public private(set) var outputs: [String: [Bool]] = [:]
    /// The state of an input when it is requested.
    public var initiallyActive: Set<String> = []

    /// Called while an output is requested or set, which takes time.
    public var whileSetting: () -> Void = {}

    public init() {}

    public func input(
        _ line: LineReference, active: ActiveLevel, bias: LineBias, debounce: Int
    ) throws(LineError) -> any LineEventSource {
        debounces[line.description] = debounce
        attempts.append(line.description)
        if let error = errors[line.description] { throw error }
        let input = DrivenInput(line, isActive: initiallyActive.contains(line.description))
        inputs[line.description] = input
        return input
    }

    public func output(_ line: LineReference, active: ActiveLevel, initially: Bool) throws(LineError) -> any LineOutput
    {
        attempts.append(line.description)
        if let error = errors[line.description] { throw error }
        whileSetting()
        outputs[line.description, default: []].append(initially)
        return DrivenOutput(self, line)
    }

    fileprivate func set(_ line: LineReference, _ isActive: Bool) throws(LineError) {
        if let error = errors[line.description] { throw error }
        whileSetting()
        outputs[line.description, default: []].append(isActive)
    }
}

public final class DrivenInput: LineEventSource {
    public let descriptor: Int32
    private let writeEnd: Int32
    private let line: LineReference
    private var waiting: [LineEdge] = []
    private var level: Bool
    /// The next reading fails, as when the chip is gone.
    public var isLost = false

    init(_ line: LineReference, isActive: Bool) {
        self.line = line
        level = isActive
        var ends: [Int32] = [-1, -1]
        precondition(pipe(&ends) == 0)
        descriptor = ends[0]
        writeEnd = ends[1]
    }

    deinit {
        close(descriptor)
        close(writeEnd)
    }

    /// The kernel saw an edge.
    public func edge(_ isActive: Bool, at time: Int64) {
        level = isActive
        waiting.append(LineEdge(isActive: isActive, time: time))
        wake()
    }

    /// The line changed, but the kernel had no room for the edge.
    public func dropEdge(_ isActive: Bool) { level = isActive }

    public func lose() {
        isLost = true
        wake()
    }

    private func wake() {
        var byte: UInt8 = 0
        precondition(write(writeEnd, &byte, 1) == 1)
    }

    public func takeEdges() throws(LineError) -> [LineEdge] {
        if isLost { throw .failed(line, operation: "read edges", code: ENODEV) }
        guard let first = waiting.first else { return [] }
        var byte: UInt8 = 0
        precondition(read(descriptor, &byte, 1) == 1)
        waiting.removeFirst()
        return [first]
    }

    public func isActive() throws(LineError) -> Bool {
        if isLost { throw .failed(line, operation: "read", code: ENODEV) }
        return level
    }
}

private final class DrivenOutput: LineOutput {
    private let lines: DrivenLines
    private let line: LineReference

    init(_ lines: DrivenLines, _ line: LineReference) {
        self.lines = lines
        self.line = line
    }

    func set(_ isActive: Bool) throws(LineError) { try lines.set(line, isActive) }
}
