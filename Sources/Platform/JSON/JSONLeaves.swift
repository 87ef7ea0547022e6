// Unknown values are null.
extension JSONValue {
    public init(_ text: String?) {
        if let text { self = .string(text) } else { self = .null }
    }

    public init(_ number: Int?) {
        if let number { self = .integer(Int64(number)) } else { self = .null }
    }

    public init(_ number: Double?) {
        if let number { self = .real(number) } else { self = .null }
    }

    /// Rounds to the millisecond.
    public init(seconds: Double?) { self.init(seconds.map { ($0 * 1000).rounded() / 1000 }) }
}
