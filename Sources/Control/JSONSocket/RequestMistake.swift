import Appliance
import Platform

/// Why a line is not a valid request. Such a line has no effect.
public enum RequestMistake: Error, Equatable, Sendable {
    /// The line is not JSON; with the position of the first mistake.
    case malformed(String)
    /// The line is JSON, but not an object with a `request`.
    case notARequest
    /// The id is neither a number nor a string of at most `limit` bytes.
    case badID(limit: Int)
    case unknownRequest(String)
    /// The request has no field of this name.
    case unknownField(String, known: [String])
    case missing(field: String, allowed: String)
    case notAllowed(field: String, allowed: String)
    /// The request has both of two fields that exclude each other, or neither although one is needed.
    case notOneOf(String, String)
    /// The message suggests another setting.
    case unknownSetting(String)
    case tooLong(limit: Int)
}

extension RequestMistake: CustomStringConvertible {
    /// The code for programs.
    public var code: String {
        switch self {
        case .malformed: "bad-json"
        case .tooLong: "too-long"
        case .unknownSetting: "bad-setting"
        default: "bad-request"
        }
    }

    public var description: String {
        switch self {
        case .malformed(let reason): "not JSON: \(reason)"
        case .notARequest: "a request is an object with a field request, like {\"id\":1,\"request\":\"status\"}"
        case .badID(let limit): "id: must be a string or a number, and a string has at most \(limit) bytes"
        case .unknownRequest(let name):
            "unknown request \(Suggestion.quoted(name))"
                + (Suggestion.nearest(to: name, among: RemoteRequest.names).map { "; did you mean \($0)?" }
                    ?? ". Requests: \(RemoteRequest.names.joined(separator: ", "))")
        case .unknownField(let name, let known):
            "unknown field \(Suggestion.quoted(name)). "
                + (known.isEmpty ? "This request has none" : "Fields: \(known.joined(separator: ", "))")
        case .missing(let field, let allowed): "\(field) is missing: must be \(allowed)"
        case .notAllowed(let field, let allowed): "\(field): must be \(allowed)"
        case .notOneOf(let one, let other): "needs one of \(one) and \(other)"
        case .unknownSetting(let message): message
        case .tooLong(let limit): "a line must not be longer than \(limit) bytes"
        }
    }
}
