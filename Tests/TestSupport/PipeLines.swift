import Foundation

/// The lines that a program writes into a pipe.
public final class PipeLines {
    private let handle: FileHandle
    private var unread = Data()

    public init(_ pipe: Pipe) { handle = pipe.fileHandleForReading }

    /// Waits for the next line; nil at the end. What is behind the last line end is no line.
    public func next() -> String? {
        while !unread.contains(UInt8(ascii: "\n")) {
            let more = handle.availableData
            if more.isEmpty { return nil }
            unread += more
        }
        let line = unread.prefix { $0 != UInt8(ascii: "\n") }
        unread = Data(unread.dropFirst(line.count + 1))
        return String(decoding: line, as: UTF8.self)
    }

    /// What is behind the last line end.
    public var rest: String { String(decoding: unread, as: UTF8.self) }
}
