import Platform

/// The directives of Cache-Control that a private cache obeys (RFC 9111, 5.2; RFC 5861, 4). Unknown ones are ignored.
public struct CacheControl: Equatable, Sendable {
    /// The directive `max-age` in seconds; nil without it. An unreadable number counts as 0.
    public var maximumAge: Int64?
    /// The number of seconds for which a stale response may still replace an error.
    public var staleIfError: Int64?
    public var isNeverStored = false
    /// It is also set for `no-cache` with names of fields. That is stricter than required, but allowed.
    public var isAlwaysRevalidated = false
    public var mustRevalidate = false

    /// The largest number of seconds, 68 years (RFC 9111, 1.2.2), so that sums do not overflow.
    private static let longest: Int64 = 2_147_483_648

    /// - Parameter values: the values of all Cache-Control fields.
    public init(_ values: [String]) {
        for value in values {
            var rest = Substring(value).utf8[...]
            while let directive = Self.next(&rest) { read(directive.name, directive.argument) }
        }
    }

    private mutating func read(_ name: String, _ argument: String?) {
        switch name {
        case _ where name.equalsIgnoringCase("max-age"): maximumAge = min(maximumAge ?? .max, Self.seconds(argument))
        case _ where name.equalsIgnoringCase("stale-if-error"):
            staleIfError = min(staleIfError ?? .max, Self.seconds(argument))
        case _ where name.equalsIgnoringCase("no-store"): isNeverStored = true
        case _ where name.equalsIgnoringCase("no-cache"): isAlwaysRevalidated = true
        case _ where name.equalsIgnoringCase("must-revalidate"): mustRevalidate = true
        default: break
        }
    }

    private static func seconds(_ text: String?) -> Int64 {
        guard let text, !text.utf8.isEmpty else { return 0 }
        var number: Int64 = 0
        for byte in text.utf8 {
            guard let digit = byte.digit else { return 0 }
            number = min(number * 10 + Int64(digit), longest)
        }
        return number
    }

    /// Removes `name`, `name=token` or `name="text"` from the beginning of `rest`. A comma in a quoted text does not
    /// end a directive.
    private static func next(_ rest: inout Substring.UTF8View) -> (name: String, argument: String?)? {
        let blanks: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: ",") }
        rest = rest.drop(while: blanks)
        guard !rest.isEmpty else { return nil }
        let name = rest.prefix { $0 != UInt8(ascii: "=") && !blanks($0) }
        rest = rest[name.endIndex...].drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard rest.first == UInt8(ascii: "=") else { return (text(name), nil) }
        rest = rest.dropFirst().drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard rest.first == UInt8(ascii: "\"") else {
            let argument = rest.prefix { !blanks($0) }
            rest = rest[argument.endIndex...]
            return (text(name), text(argument))
        }
        rest = rest.dropFirst()
        var argument: [UInt8] = []
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            argument.append(byte == UInt8(ascii: "\\") ? rest.popFirst() ?? byte : byte)
        }
        return (text(name), String(decoding: argument, as: UTF8.self))
    }

    private static func text(_ bytes: Substring.UTF8View) -> String { String(decoding: bytes, as: UTF8.self) }
}
