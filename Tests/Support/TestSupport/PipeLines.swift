import Foundation

/// The lines that a program writes into a pipe. Thread: one at a time.
public final class PipeLines {
    /// The test's end.
    public let descriptor: Int32
    private var unread: [UInt8] = []
    /// The last lines that were read, for the error.
    private var lastLines: [String] = []
    private var isAtEnd = false

    /// - Parameter descriptor: of the reading end; closed with this object.
    public init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Waits for the next line; nil at the end. The bytes after the last line end are no line.
    public func next(_ what: String = "a line", until deadline: Deadline = Deadline()) throws -> String? {
        var searched = 0
        while true {
            if let end = unread[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: unread[..<end], as: UTF8.self)
                unread.removeFirst(end + 1)
                lastLines = lastLines.suffix(19) + [line]
                return line
            }
            searched = unread.count
            guard try readMore(what, until: deadline) else { return nil }
        }
    }

    /// Waits for the end, and returns all bytes until there.
    public func toEnd(_ what: String = "the end of a pipe", until deadline: Deadline = Deadline()) throws -> [UInt8] {
        while try readMore(what, until: deadline) {}
        defer { unread = [] }
        return unread
    }

    /// The bytes after the last line end.
    public var rest: String { String(decoding: unread, as: UTF8.self) }

    /// The end of the output so far.
    public var recent: String { (lastLines + [rest]).joined(separator: "\n") }

    /// - Returns: false at the end.
    private func readMore(_ what: String, until deadline: Deadline) throws -> Bool {
        guard !isAtEnd else { return false }
        // A program that never stops writing has no end either.
        guard !deadline.hasPassed else { throw deadline.timedOut(what) }
        try waitForDescriptor(descriptor, what, until: deadline)
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = read(descriptor, &buffer, buffer.count)
        guard count > 0 else {
            isAtEnd = true
            return false
        }
        unread += buffer[..<count]
        return true
    }
}
