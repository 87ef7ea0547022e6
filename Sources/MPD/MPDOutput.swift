import Appliance

/// Collects the lines of an answer: `Artist: Miles Davis`.
struct MPDOutput: Equatable {
    private(set) var bytes: [UInt8] = []

    /// - Parameter capacity: the bytes to reserve at first.
    init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

    /// Adds a line. Control characters in the value become spaces, because a terminal would obey them.
    mutating func pair(_ key: StaticString, _ value: String) {
        bytes.line(key, value.utf8.lazy.map { $0 < 0x20 || $0 == 0x7F ? UInt8(ascii: " ") : $0 })
    }

    mutating func pair(_ key: StaticString, _ value: some BinaryInteger & Sendable) { bytes.line(key, Int64(value)) }

    /// Adds the URI of a song. Clients send the URI back, so it has the exact name of the file. Only line ends become
    /// spaces, because they would break the protocol.
    mutating func file(_ uri: String) { bytes.line("file", uri.utf8) }

    /// Adds the lines that `write` adds.
    mutating func append(_ write: (inout [UInt8]) -> Void) { write(&bytes) }

    /// Adds bytes unchanged.
    mutating func append(_ more: [UInt8]) { bytes.append(contentsOf: more) }
}
