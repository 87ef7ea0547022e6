import CLinux

/// A compiled extended regular expression of POSIX (regcomp(3)). It cannot be copied, and its `deinit` frees it.
///
///     let expression = try RegularExpression("^The .*", ignoresCase: true)
///     expression.matches(Array("the beatles".utf8))       // true
///
/// Any thread.
public struct RegularExpression: ~Copyable {
    /// Why an expression was refused.
    public struct Mistake: Error, Equatable {
        public let reason: String
    }

    private let compiled: UnsafeMutablePointer<regex_t>

    /// The most bytes of an expression.
    private static let longest = 256
    /// The most repetitions of a part: regcomp(3) makes a copy of the part for each.
    private static let mostRepetitions = 100

    /// - Parameter ignoresCase: only letters of ASCII have a case.
    public init(_ text: String, ignoresCase: Bool) throws(Mistake) {
        if let reason = Self.reasonToRefuse(Array(text.utf8)) { throw Mistake(reason: reason) }
        let compiled = UnsafeMutablePointer<regex_t>.allocate(capacity: 1)
        let code = regcomp(compiled, text, REG_EXTENDED | REG_NOSUB | (ignoresCase ? REG_ICASE : 0))
        guard code == 0 else {
            let reason = Self.reason(code, compiled)
            compiled.deallocate()
            throw Mistake(reason: reason)
        }
        self.compiled = compiled
    }

    deinit {
        regfree(compiled)
        compiled.deallocate()
    }

    /// Returns whether a part of the text matches. A zero byte ends the text.
    public func matches(_ text: ArraySlice<UInt8>) -> Bool {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: text.count + 1) { buffer in
            for (index, byte) in text.enumerated() { buffer[index] = CChar(bitPattern: byte) }
            buffer[text.count] = 0
            return regexec(compiled, buffer.baseAddress, 0, nil, 0) == 0
        }
    }

    /// Refuses expressions that cost the C library much time or memory: nested repetitions and references to groups.
    private static func reasonToRefuse(_ text: [UInt8]) -> String? {
        if text.count > longest { return "longer than \(longest) bytes" }
        if text.contains(0) { return "a zero byte" }
        var repetitions = 0
        for (index, byte) in text.enumerated() {
            switch byte {
            case UInt8(ascii: "{"):
                repetitions += 1
                let largest = text[index...].prefix { $0 != UInt8(ascii: "}") }.split { !(0x30...0x39).contains($0) }
                    .map { $0.prefix(6).reduce(0) { $0 * 10 + Int($1 - 0x30) } }.max()
                if largest ?? 0 > mostRepetitions || repetitions > 2 {
                    return "more than two repetitions, or than \(mostRepetitions) times"
                }
            case UInt8(ascii: "\\"):
                if index + 1 < text.count, (0x31...0x39).contains(text[index + 1]) { return "a reference to a group" }
            default: break
            }
        }
        return nil
    }

    private static func reason(_ code: Int32, _ compiled: UnsafeMutablePointer<regex_t>) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            let count = min(regerror(code, compiled, buffer.baseAddress, buffer.count), buffer.count)
            return String(decoding: UnsafeRawBufferPointer(buffer)[..<max(count - 1, 0)], as: UTF8.self)
        }
    }
}
