import Appliance

/// A line of a client, as the name of a command and its arguments.
///
///     try MPDArguments(line: Array(#"find "(Artist == \"A\")" window 0:10"#.utf8)).values
///         // find, (Artist == "A"), window, 0:10
struct MPDArguments: Equatable {
    /// The most arguments of a command.
    static let limit = 64

    /// The name of the command.
    let name: String
    let values: [String]

    /// Splits a line. Arguments with spaces are in quotation marks, in which `\` removes the special meaning of the
    /// next character.
    init(line: [UInt8]) throws(MPDFailure) {
        var rest = line[...]
        while let last = rest.last, last <= 0x20 { rest.removeLast() }
        var name: [UInt8] = []
        while let byte = rest.first, byte > 0x20 {
            guard Self.isNameByte(byte) else { throw MPDFailure(.unknown, "Invalid word character") }
            name.append(rest.removeFirst())
        }
        if name.isEmpty { throw MPDFailure(.unknown, "No command given") }
        if !Self.isLetter(name[0]) { throw MPDFailure(.unknown, "Letter expected") }
        self.name = String(decoding: name, as: UTF8.self)
        var values: [String] = []
        while true {
            while let byte = rest.first, byte <= 0x20 { rest.removeFirst() }
            guard let first = rest.first else { break }
            if values.count == Self.limit { throw MPDFailure(.argument, "Too many arguments") }
            let value = first == UInt8(ascii: "\"") ? try Self.quoted(&rest) : try Self.plain(&rest)
            values.append(String(decoding: value, as: UTF8.self))
        }
        self.values = values
    }

    private static func quoted(_ rest: inout ArraySlice<UInt8>) throws(MPDFailure) -> [UInt8] {
        rest.removeFirst()
        var value: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""):
                if let next = rest.first, next > 0x20 {
                    throw MPDFailure(.argument, "Space expected after closing '\"'")
                }
                return value
            case UInt8(ascii: "\\"):
                guard let next = rest.popFirst() else { throw MPDFailure(.argument, "Missing closing '\"'") }
                value.append(next)
            default: value.append(byte)
            }
        }
        throw MPDFailure(.argument, "Missing closing '\"'")
    }

    private static func plain(_ rest: inout ArraySlice<UInt8>) throws(MPDFailure) -> [UInt8] {
        var value: [UInt8] = []
        while let byte = rest.first, byte > 0x20 {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                throw MPDFailure(.argument, "Invalid unquoted character")
            }
            value.append(rest.removeFirst())
        }
        return value
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte) || (0x41...0x5A).contains(byte)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        isLetter(byte) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "_")
    }
}
