/// A JSON text (RFC 8259) as a value. Any thread.
public enum JSONValue: Equatable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case real(Double)
    case string(String)
    case array([JSONValue])
    /// An object, in the order of the text. Names in a parsed text are unique, and must be unique when the value is
    /// built.
    case object([Member])

    public struct Member: Equatable, Sendable {
        public var name: String
        public var value: JSONValue

        public init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }
}

// MARK: Reading a value

extension JSONValue {
    public var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
    /// nil for a number with a fraction or an exponent.
    public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    /// Any number.
    public var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .real(let value): value
        default: nil
        }
    }
    public var string: String? { if case .string(let value) = self { value } else { nil } }
    public var elements: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
    public var members: [Member]? { if case .object(let value) = self { value } else { nil } }
    public var isNull: Bool { if case .null = self { true } else { false } }

    /// The member with this name; nil when it is missing or this is not an object. Setting it replaces the member or
    /// adds it at the end, and nil removes it. A value that is not an object becomes one.
    public subscript(_ name: String) -> JSONValue? {
        get { members?.first { $0.name.utf8.elementsEqual(name.utf8) }?.value }
        set {
            var members = self.members ?? []
            let index = members.firstIndex { $0.name.utf8.elementsEqual(name.utf8) }
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(name, value))
            case (nil, nil): break
            }
            self = .object(members)
        }
    }

    /// The element at this index; nil beyond the end or when this is not an array.
    public subscript(_ index: Int) -> JSONValue? {
        guard let elements, elements.indices.contains(index) else { return nil }
        return elements[index]
    }
}

// MARK: Writing a value down

// No nil literal: comparing an optional value with nil would then compare with `.null`.
extension JSONValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .real(value) }
    public init(stringLiteral value: String) { self = .string(value) }
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { Member($0.0, $0.1) })
    }
}
