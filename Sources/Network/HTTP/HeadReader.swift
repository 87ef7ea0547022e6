import Platform

/// Reads the head of a response line by line (RFC 9112, 2 to 5), as libcurl delivers it.
struct HeadReader: Equatable {
    /// The maximum number of bytes and of fields in one head.
    static let maximumSize = 65_536
    static let maximumFields = 256

    enum Progress: Equatable {
        case more
        /// The head of an interim response (1xx): another head follows.
        case interim
        case complete
        case tooLarge
        case malformed
    }

    private(set) var status = 0
    private(set) var headers: [HeaderField] = []
    private var size = 0

    /// Reads the next line, with its line end.
    mutating func append(_ line: UnsafeRawBufferPointer) -> Progress {
        size += line.count
        guard size <= Self.maximumSize else { return .tooLarge }
        var text = line[...]
        while let last = text.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") { text.removeLast() }
        if status == 0 { return readStatus(text) }
        guard let first = text.first else { return end() }
        if Self.isBlank(first) { return continueField(text) }
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")), colon > text.startIndex else { return .malformed }
        guard headers.count < Self.maximumFields else { return .tooLarge }
        headers.append(HeaderField(Self.text(text[..<colon]), Self.text(Self.trimmed(text[(colon + 1)...]))))
        return .more
    }

    /// Reads `HTTP/1.1 200 OK`; the text after the status is ignored.
    private mutating func readStatus(_ line: Slice<UnsafeRawBufferPointer>) -> Progress {
        let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard words.count >= 2, words[0].starts(with: "HTTP/".utf8), words[1].count == 3 else { return .malformed }
        for byte in words[1] {
            guard let digit = byte.digit else { return .malformed }
            status = status * 10 + digit
        }
        return (100..<600).contains(status) ? .more : .malformed
    }

    /// A line that begins with a blank continues the field before it (RFC 9112, 5.2).
    private mutating func continueField(_ line: Slice<UnsafeRawBufferPointer>) -> Progress {
        guard !headers.isEmpty else { return .malformed }
        headers[headers.count - 1].value += " " + Self.text(Self.trimmed(line))
        return .more
    }

    private mutating func end() -> Progress {
        guard status < 200 else { return .complete }
        // The size includes interim responses, so that a server cannot send them for ever.
        let size = size
        self = HeadReader()
        self.size = size
        return .interim
    }

    private static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
        var rest = bytes.drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        return rest
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    private static func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        String(decoding: bytes, as: UTF8.self)
    }
}
