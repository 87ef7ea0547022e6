/// Why bytes are not valid JSON.
public enum JSONError: Error, Equatable, Sendable {
    /// The text is not JSON or not UTF-8, an object has the same name twice, or Int64 or Double cannot hold a number.
    /// Line and column count from 1; the column counts characters.
    case malformed(reason: String, line: Int, column: Int)
    /// Arrays and objects are nested deeper than `limit`.
    case tooDeep(limit: Int)
}

extension JSONError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .malformed(let reason, let line, let column): "line \(line), column \(column): \(reason)"
        case .tooDeep(let limit): "nested deeper than \(limit)"
        }
    }
}
