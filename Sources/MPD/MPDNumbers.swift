import Appliance

/// Numbers in the arguments of commands, with MPD's errors.
enum MPDNumbers {
    static func integer(_ text: String, _ range: ClosedRange<Int>) throws(MPDFailure) -> Int {
        guard let value = Int(text) else {
            if isInteger(text) { throw MPDFailure(.argument, "Number too large: \(text)") }
            throw MPDFailure(.argument, "Integer expected: \(text)")
        }
        guard range.contains(value) else { throw MPDFailure(.argument, "Number too large: \(text)") }
        return value
    }

    static func unsigned(_ text: String) throws(MPDFailure) -> Int {
        // The next number must also fit into 32 bits.
        try integer(text, 0...Int(Int32.max) - 1)
    }

    /// The id of an entry.
    static func id(_ text: String) throws(MPDFailure) -> UInt32 {
        UInt32(truncatingIfNeeded: try unsigned(text))
    }

    static func boolean(_ text: String) throws(MPDFailure) -> Bool {
        switch text.utf8.count == 1 ? text.utf8.first : nil {
        case UInt8(ascii: "0"): return false
        case UInt8(ascii: "1"): return true
        default: throw MPDFailure(.argument, "Boolean (0/1) expected: \(text)")
        }
    }

    /// Seconds, limited to 30 years: clients store whole seconds in 32 bits.
    static func seconds(_ text: String) throws(MPDFailure) -> Double {
        guard let value = Double(text), value.isFinite else {
            throw MPDFailure(.argument, "Float expected: \(text)")
        }
        return max(-1e9, min(value, 1e9))
    }

    /// Positions in the queue: `5`, `2:7`, `2:`. The end is limited to `count`.
    /// - Throws: for another form, and for a start beyond the end of the queue. A start at the end is an empty range,
    ///   as in MPD.
    static func range(_ text: String, count: Int) throws(MPDFailure) -> Range<Int> {
        let bounds = try openRange(text)
        if bounds.lowerBound > count { throw badIndex }
        return bounds.lowerBound..<max(bounds.lowerBound, min(bounds.upperBound, count))
    }

    /// Reads a range that need not exist in the queue. `-1` means everything, for old clients.
    static func openRange(_ text: String) throws(MPDFailure) -> Range<Int> {
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        if parts.count == 1 {
            if text.utf8.elementsEqual("-1".utf8) { return 0..<Int.max }
            guard isInteger(text) else { throw MPDFailure(.argument, "Integer or range expected: \(text)") }
            if text.utf8.first == UInt8(ascii: "-") {
                throw MPDFailure(.argument, "Number is negative: \(text)")
            }
            let place = try unsigned(text)
            return place..<(place + 1)
        }
        guard isInteger(parts[0]) else { throw MPDFailure(.argument, "Integer or range expected: \(text)") }
        let start = try unsigned(parts[0])
        if parts[1].utf8.isEmpty { return start..<Int.max }
        guard isInteger(parts[1]) else { throw MPDFailure(.argument, "Integer or range expected: \(text)") }
        let end = try unsigned(parts[1])
        guard start <= end else { throw MPDFailure(.argument, "Malformed range: \(text)") }
        return start..<end
    }

    static let badIndex = MPDFailure(.argument, "Bad song index")
    static let noSuchSong = MPDFailure(.noSuchObject, "No such song")

    private static func isInteger(_ text: String) -> Bool {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        return !digits.isEmpty && digits.allSatisfy { (0x30...0x39).contains($0) }
    }
}

extension MPDOutput {
    /// Adds a line with seconds: `elapsed: 12.345`.
    mutating func seconds(_ key: StaticString, _ value: Double) {
        let milliseconds = Int64(max(0, min(value, 1e9)) * 1000 + 0.5)
        let rest = "\(milliseconds % 1000)"
        pair(key, "\(milliseconds / 1000)." + String(repeating: "0", count: 3 - rest.utf8.count) + rest)
    }
}
