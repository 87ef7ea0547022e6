import Network
import Platform
import Player

/// The value of a setting.
public enum SettingValue: Equatable, Sendable {
    case integer(Int)
    /// A duration in milliseconds.
    case duration(Int)
    case percent(Int)
    case decibels(Int)
    /// Millions of bytes.
    case megabytes(Int)
    /// The permissions of a file: the lowest nine bits of its mode.
    case permissions(UInt32)
    /// A choice, a path or any text.
    case text(String)

    /// The value in the form of a configuration file.
    var written: String {
        if case .text(let value) = self { Self.quoted(value) } else { plain }
    }

    /// The value without the quotes that a file may need.
    var plain: String {
        switch self {
        case .integer(let value): "\(value)"
        case .duration(let milliseconds): Self.written(milliseconds)
        case .percent(let value): "\(value) %"
        case .decibels(let value): "\(value) dB"
        case .megabytes(let value): "\(value) MB"
        case .permissions(let mode): "0" + String(mode, radix: 8)
        case .text(let value): value
        }
    }

    static func written(_ milliseconds: Int) -> String {
        if milliseconds > 0, milliseconds % 60_000 == 0 { return "\(milliseconds / 60_000) min" }
        return milliseconds > 0 && milliseconds % 1000 == 0 ? "\(milliseconds / 1000) s" : "\(milliseconds) ms"
    }

    /// Adds quotes where a file needs them.
    private static func quoted(_ text: String) -> String {
        let bytes = Array(text.utf8)
        let special = [UInt8(ascii: "#"), UInt8(ascii: ";"), UInt8(ascii: "\"")]
        let isPlain =
            bytes.first != UInt8(ascii: " ") && bytes.last != UInt8(ascii: " ")
            && !bytes.contains { special.contains($0) }
        if isPlain { return text }
        var quoted: [UInt8] = []
        for byte in bytes {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { quoted.append(UInt8(ascii: "\\")) }
            quoted.append(byte)
        }
        return "\"\(String(decoding: quoted, as: UTF8.self))\""
    }
}

/// The values that a setting allows, and how they are read.
enum SettingType: Equatable, Sendable {
    case integer(ClosedRange<Int>)
    /// A duration in milliseconds.
    case duration(ClosedRange<Int>)
    case percent(ClosedRange<Int>)
    case decibels(ClosedRange<Int>)
    /// Millions of bytes.
    case megabytes(ClosedRange<Int>)
    case permissions
    case choice([String])
    /// An absolute path of at most `limit` bytes, or a word for none.
    case path(orWord: String?, limit: Int? = nil)
    /// Absolute paths with a colon between two, or `none`.
    case paths
    /// `scheme://host…` of at most `limit` bytes with one of these schemes, or `none`.
    case address([String], limit: Int? = nil)
    /// The address of a content service, or `none`.
    case service
    /// A numeric address of this machine, `any`, or `none`.
    case listener
    /// Public keys of hosts, or `none`.
    case pins
    /// A text that fits into a label of DNS: 1 to 63 bytes.
    case label
    case text

    /// Whether the values are names, paths and other texts, and not numbers or fixed words.
    var isFree: Bool {
        switch self {
        case .integer, .duration, .percent, .decibels, .megabytes, .permissions, .choice: false
        case .path, .paths, .address, .service, .listener, .pins, .label, .text: true
        }
    }

    /// Returns nil for a value that is not allowed.
    func value(of text: String) -> SettingValue? {
        switch self {
        case .integer(let range): return Self.number(text, [("", 1)], in: range).map { .integer($0) }
        case .duration(let range):
            return Self.number(text, [("ms", 1), ("s", 1000), ("min", 60_000)], in: range).map { .duration($0) }
        case .percent(let range): return Self.number(text, [("%", 1), ("", 1)], in: range).map { .percent($0) }
        case .decibels(let range): return Self.number(text, [("dB", 1)], in: range).map { .decibels($0) }
        case .megabytes(let range): return Self.number(text, [("MB", 1), ("", 1)], in: range).map { .megabytes($0) }
        case .permissions:
            guard (3...4).contains(text.utf8.count), let mode = UInt32(text, radix: 8), mode <= 0o777 else {
                return nil
            }
            return .permissions(mode)
        case .choice(let words): return words.first { $0.utf8.elementsEqual(text.utf8) }.map { .text($0) }
        case .path(let word, let limit):
            if let word, word.utf8.elementsEqual(text.utf8) { return .text(word) }
            return text.utf8.first == UInt8(ascii: "/") && text.utf8.count <= limit ?? .max ? .text(text) : nil
        case .paths:
            let paths = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            let areAbsolute = paths.allSatisfy { $0.first == UInt8(ascii: "/") }
            return areAbsolute || text.utf8.elementsEqual("none".utf8) ? .text(text) : nil
        case .address(let schemes, let limit):
            if text.utf8.elementsEqual("none".utf8) { return .text(text) }
            let isAddress = schemes.contains { scheme in
                let start = "\(scheme)://"
                // A host follows.
                let host = text.utf8.dropFirst(start.utf8.count).first
                return text.utf8.starts(with: start.utf8) && host != nil && host != UInt8(ascii: "/")
                    && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
            }
            return isAddress && text.utf8.count <= limit ?? .max ? .text(text) : nil
        case .service:
            if text.utf8.elementsEqual("none".utf8) { return .text(text) }
            return ServiceURL.fault(in: text) == nil ? Self.address(["https", "http"]).value(of: text) : nil
        case .listener:
            let isWord = text.utf8.elementsEqual("any".utf8) || text.utf8.elementsEqual("none".utf8)
            return isWord || StreamSocket.isNumericAddress(text) ? .text(text) : nil
        case .pins: return text.utf8.elementsEqual("none".utf8) || HostPin.list(text) != nil ? .text(text) : nil
        case .label: return (1...63).contains(text.utf8.count) ? .text(text) : nil
        case .text: return text.utf8.isEmpty ? nil : .text(text)
        }
    }

    /// Reads a whole number with one of the units, multiplied by the unit's factor.
    private static func number(_ text: String, _ units: [(String, Int)], in range: ClosedRange<Int>) -> Int? {
        let bytes = Array(text.utf8)
        let digits = bytes.prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") || $0 == UInt8(ascii: "-") }
        let unit = bytes[digits.count...].drop { $0 == UInt8(ascii: " ") }
        guard let number = Int(String(decoding: digits, as: UTF8.self)),
            let factor = units.first(where: { unit.elementsEqual($0.0.utf8) })?.1
        else { return nil }
        let (value, overflow) = number.multipliedReportingOverflow(by: factor)
        return !overflow && range.contains(value) ? value : nil
    }

    /// The allowed values. Messages use the text after "must be".
    var allowed: String {
        switch self {
        case .integer(let range): "a number from \(range.lowerBound) to \(range.upperBound)"
        case .duration(let range):
            "a duration from \(SettingValue.written(range.lowerBound)) to \(SettingValue.written(range.upperBound)), "
                + "with a unit: ms, s or min"
        case .percent(let range): "from \(range.lowerBound) % to \(range.upperBound) %"
        case .decibels(let range): "from \(range.lowerBound) dB to \(range.upperBound) dB, whole, with the unit dB"
        case .megabytes(let range): "from \(range.lowerBound) MB to \(range.upperBound) MB"
        case .permissions: "the permissions of a file in octal, like 0660"
        case .choice(let words): "one of " + words.joined(separator: ", ")
        case .path(let word, let limit):
            "a path that begins with /" + (limit.map { " and has at most \($0) bytes" } ?? "")
                + (word.map { ", or \($0)" } ?? "")
        case .paths: "paths that begin with /, with a colon between two, or none"
        case .address(let schemes, let limit):
            "an address that begins with " + schemes.map { "\($0)://" }.joined(separator: " or ")
                + (limit.map { " and has at most \($0) bytes" } ?? "") + ", or none"
        case .service: "an address that begins with https:// or http://, or none"
        case .listener: "a numeric address like 192.168.1.10 or ::1, any, or none"
        case .pins: "hosts, each with its keys after it and a comma between hosts, like nas.local KEY KEY; or none"
        case .label: "a text of 1 to 63 bytes"
        case .text: "something"
        }
    }
}
