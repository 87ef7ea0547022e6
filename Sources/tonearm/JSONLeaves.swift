import Platform

// What is not known is null.
extension JSONValue {
    init(_ text: String?) { self = text.map { .string($0) } ?? .null }
    init(_ number: Int?) { self = number.map { .integer(Int64($0)) } ?? .null }
    init(_ number: Double?) { self = number.map { .real($0) } ?? .null }

    /// To the millisecond.
    init(seconds: Double?) { self.init(seconds.map { ($0 * 1000).rounded() / 1000 }) }
}
