/// Splits received bytes into lines. A line that is too long is skipped to its end, and discarded.
package struct LineSplitter {
    package enum Line: Equatable {
        case whole([UInt8])
        case tooLong

        /// The length in bytes; 0 for a line that was skipped.
        var count: Int { if case .whole(let bytes) = self { bytes.count } else { 0 } }
    }

    /// The longest line in bytes, without its end.
    let limit: Int
    private var bytes: [UInt8] = []
    /// Where the next line begins.
    private var start = 0
    /// The index before which there is no line end.
    private var searched = 0
    private var isSkipping = false

    init(limit: Int) { self.limit = limit }

    /// The number of stored bytes.
    var count: Int { bytes.count - start }

    mutating func append(_ more: UnsafeRawBufferPointer) {
        if start > 0 {
            bytes.removeFirst(start)
            searched -= start
            start = 0
        }
        bytes.append(contentsOf: more)
    }

    /// Removes and returns the next line. Empty lines are left out.
    /// - Returns: nil while no line is complete.
    mutating func next() -> Line? {
        while let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) {
            if let line = take(to: end, next: end + 1) { return line }
        }
        searched = bytes.count
        if count > limit { skip() }
        return nil
    }

    /// Returns the last line, which ended with the connection and not with a line end.
    mutating func finish() -> Line? { count > 0 || isSkipping ? take(to: bytes.count, next: bytes.count) : nil }

    private mutating func take(to end: Int, next: Int) -> Line? {
        defer {
            start = next
            searched = next
        }
        if isSkipping || end - start > limit {
            isSkipping = false
            return .tooLong
        }
        var line = bytes[start..<end]
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        return line.isEmpty ? nil : .whole(Array(line))
    }

    private mutating func skip() {
        isSkipping = true
        bytes = []
        start = 0
        searched = 0
    }
}
