import Appliance
import CLinux
import Platform
import Player
import Queue

/// The fields of a request, as typed values.
struct RequestFields {
    /// The maximum length in bytes of a text that is not a path, such as a setting's value or the position in a list.
    static let textLimit = 1024
    /// The most bytes of a path without its NUL: PATH_MAX - 1. The kernel refuses longer ones.
    static let pathLimit = 4095

    let members: [JSONValue.Member]

    func value(_ name: String) -> JSONValue? {
        members.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }

    func has(_ name: String) -> Bool { value(name) != nil }

    func boolean(_ name: String) throws(RequestMistake) -> Bool? {
        guard let value = value(name) else { return nil }
        guard let boolean = value.boolean else { throw .notAllowed(field: name, allowed: "true or false") }
        return boolean
    }

    func integer(_ name: String, in range: ClosedRange<Int>) throws(RequestMistake) -> Int? {
        guard let value = value(name) else { return nil }
        // Accepts `1.0`, because some programs write each number with a fraction.
        let whole = value.integer.flatMap { Int(exactly: $0) } ?? value.number.flatMap { Int(exactly: $0) }
        guard let integer = whole, range.contains(integer) else {
            let allowed =
                range.upperBound == .max
                ? "a whole number from \(range.lowerBound) on"
                : "a whole number from \(range.lowerBound) to \(range.upperBound)"
            throw .notAllowed(field: name, allowed: allowed)
        }
        return integer
    }

    /// - Parameter what: the allowed values, which the message names after "must be".
    func number(_ name: String, _ what: String) throws(RequestMistake) -> Double? {
        guard let value = value(name) else { return nil }
        guard let number = value.number, number.isFinite else { throw .notAllowed(field: name, allowed: what) }
        return number
    }

    func text(_ name: String, _ what: String) throws(RequestMistake) -> String {
        guard let value = value(name) else { throw .missing(field: name, allowed: what) }
        guard let text = value.string else { throw .notAllowed(field: name, allowed: what) }
        guard text.utf8.count <= Self.textLimit else {
            throw .notAllowed(field: name, allowed: "\(what), of at most \(Self.textLimit) bytes")
        }
        return text
    }

    /// Returns the text of a product's address, which may turn out to be invalid.
    func address(_ name: String) throws(RequestMistake) -> String {
        let text = try text(name, "the address of a product, like tonearm:track/ID")
        try Self.checkLength(of: text, name)
        return text
    }

    /// Refuses texts that are longer than any product's address and any path of the kernel.
    static func checkLength(of path: String, _ place: String) throws(RequestMistake) {
        if ServiceAddress.isMeant(by: path) {
            if path.utf8.count <= ServiceAddress.lengthLimit { return }
            let allowed = "the address of a product whose id has at most \(ServiceAddress.idLimit) bytes"
            throw .notAllowed(field: place, allowed: allowed)
        }
        // A byte of a name takes up to three bytes in the text, so counts the bytes of the name.
        if path.utf8.count <= pathLimit || FileName.withBytes(of: path, { strlen($0) }) <= pathLimit { return }
        throw .notAllowed(field: place, allowed: "a path of at most \(pathLimit) bytes")
    }

    /// Reads one of a list of words.
    /// - Returns: its index.
    func choice(_ name: String, of words: [String]) throws(RequestMistake) -> Int {
        let allowed = "one of \(words.joined(separator: ", "))"
        let text = try text(name, allowed)
        guard let index = words.firstIndex(where: { $0.utf8.elementsEqual(text.utf8) }) else {
            throw .notAllowed(field: name, allowed: allowed)
        }
        return index
    }

    func entryID(_ name: String) throws(RequestMistake) -> EntryID? {
        guard let value = value(name) else { return nil }
        return try Self.entryID(value, name)
    }

    func entryIDs(_ name: String) throws(RequestMistake) -> [EntryID] {
        guard let elements = value(name)?.elements else {
            throw .notAllowed(field: name, allowed: "a list of entry ids")
        }
        var ids: [EntryID] = []
        for element in elements { ids.append(try Self.entryID(element, name)) }
        return ids
    }

    private static func entryID(_ value: JSONValue, _ name: String) throws(RequestMistake) -> EntryID {
        guard let number = value.integer.flatMap({ UInt32(exactly: $0) }), number > 0 else {
            throw .notAllowed(field: name, allowed: "the id of an entry, as the request queue tells it")
        }
        return EntryID(number)
    }

    /// Reads exactly one of two numbers: a value, or a difference.
    func change(
        _ value: String, by difference: String, _ what: String
    ) throws(RequestMistake) -> ImmediateRequest.Change {
        let to = try number(value, what)
        let by = try number(difference, what)
        switch (to, by) {
        case (let to?, nil): return .to(to)
        case (nil, let by?): return .by(by)
        default: throw .notOneOf(value, difference)
        }
    }

    /// Returns the absolute paths of files and folders, from a list of products.
    func paths(_ name: String) throws(RequestMistake) -> [String] {
        let allowed = "a list of products, like [{\"path\":\"/music/album\"}]"
        guard let value = value(name) else { throw .missing(field: name, allowed: allowed) }
        guard let elements = value.elements, !elements.isEmpty else { throw .notAllowed(field: name, allowed: allowed) }
        var paths: [String] = []
        for (index, element) in elements.enumerated() {
            let place = "\(name)[\(index)]"
            guard let members = element.members else {
                throw .notAllowed(field: place, allowed: "an object with a path")
            }
            if let other = members.first(where: { !$0.name.utf8.elementsEqual("path".utf8) }) {
                throw .unknownField("\(place).\(other.name)", known: ["path"])
            }
            paths.append(try Self.path(members.first?.value ?? .null, "\(place).path"))
        }
        return paths
    }

    /// Returns the absolute path or the address in a value.
    /// - Parameter place: the field, for messages.
    static func path(_ value: JSONValue, _ place: String) throws(RequestMistake) -> String {
        guard let path = value.string, !path.utf8.contains(0),
            path.utf8.first == UInt8(ascii: "/") || ServiceAddress.isMeant(by: path)
                || WebFileAddress.isMeant(by: path)
        else {
            throw .notAllowed(
                field: place,
                allowed: "an absolute path, which begins with /, tonearm:track/ID, or an address of http or https")
        }
        try checkLength(of: path, place)
        return path
    }
}
