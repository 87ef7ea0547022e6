/// The requested range of a Range header (RFC 9110, 14.2).
enum RequestedRange: Equatable {
    /// The whole resource. A header with several ranges, or an invalid one, is ignored.
    case whole
    case part(Range<Int64>)
    case outside

    /// - Parameter length: the size of the resource, in bytes.
    init(_ header: String, of length: Int64) {
        self = .whole
        guard header.utf8.starts(with: "bytes=".utf8) else { return }
        let ends = header.utf8.dropFirst(6).split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]) else { return }
        switch (first, last) {
        case (let first?, let last?):
            guard first <= last else { return }
            self = first < length ? .part(first..<(min(last, length - 1) + 1)) : .outside
        case (let first?, nil): self = first < length ? .part(first..<length) : .outside
        case (nil, let count?): self = count > 0 && length > 0 ? .part(max(0, length - count)..<length) : .outside
        case (nil, nil): return
        }
    }

    /// Returns nil when it is not a number, `.some(nil)` when it is empty.
    private static func number(_ text: Substring.UTF8View) -> Int64?? {
        if text.isEmpty { return .some(nil) }
        guard text.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Int64(Substring(text))
        else { return nil }
        return .some(number)
    }
}
