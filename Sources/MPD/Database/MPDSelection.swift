import Appliance

/// The songs that `find` and similar commands request: a filter, an order, and a part of the result.
struct MPDSelection: Sendable {
    enum Order: Equatable, Sendable {
        case tag(MPDTag)
        case lastModified
    }

    let filter: MPDFilter
    /// The order of the songs; nil for the order of the folders.
    private(set) var order: Order?
    private(set) var isDescending = false
    private(set) var window = 0..<Int.max

    /// Selects all songs of a filter.
    init(_ filter: MPDFilter) { self.filter = filter }

    /// Parses `FILTER… [sort [-]TYPE] [window START:END]`.
    init(parsing arguments: [String], isSearch: Bool) throws(MPDFailure) {
        var rest = arguments
        if let text = Self.take("window", from: &rest) { window = try Self.range(text) }
        if let text = Self.take("sort", from: &rest) {
            isDescending = text.utf8.first == UInt8(ascii: "-")
            let name = String(decoding: text.utf8.dropFirst(isDescending ? 1 : 0), as: UTF8.self)
            if MPDWord.isEqual(name, "Last-Modified") {
                order = .lastModified
            } else if let tag = MPDTag(named: name) {
                order = .tag(tag)
            } else {
                throw MPDFailure(.argument, "Unknown sort tag")
            }
        }
        filter = try MPDFilter(parsing: rest, isSearch: isSearch)
    }

    /// Takes the value of an option at the end of the arguments.
    static func take(_ option: StaticString, from arguments: inout [String]) -> String? {
        guard arguments.count >= 2, MPDWord.isSame(arguments[arguments.count - 2], option) else { return nil }
        let value = arguments.removeLast()
        arguments.removeLast()
        return value
    }

    /// Parses `START:END`, `START:`, `NUMBER`, or -1 for all.
    static func range(_ text: String) throws(MPDFailure) -> Range<Int> {
        let bytes = Array(text.utf8)
        if bytes.elementsEqual("-1".utf8) { return 0..<Int.max }
        let parts = bytes.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        let start = try number(parts[0], of: text)
        guard parts.count > 1 else { return start..<(start + 1) }
        if parts[1].isEmpty { return start..<Int.max }
        let end = try number(parts[1], of: text)
        guard start <= end else { throw MPDFailure(.argument, "Malformed range: \(text)") }
        return start..<end
    }

    private static func number(_ digits: ArraySlice<UInt8>, of text: String) throws(MPDFailure) -> Int {
        let isNegative = digits.first == UInt8(ascii: "-")
        let digits = isNegative ? digits.dropFirst() : digits
        guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw MPDFailure(.argument, "Integer or range expected: \(text)")
        }
        if isNegative { throw MPDFailure(.argument, "Number is negative: \(text)") }
        let value = digits.prefix(11).reduce(Int64(0)) { $0 * 10 + Int64($1 - 0x30) }
        guard value < Int64(Int32.max) else { throw MPDFailure(.argument, "Number too large: \(text)") }
        return Int(value)
    }
}
