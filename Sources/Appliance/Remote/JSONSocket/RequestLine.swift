import Platform

/// A line that a client has sent.
struct RequestLine {
    /// Given back with the reply; `.null` where it cannot be told.
    let id: JSONValue
    let request: Result<RemoteRequest, RequestMistake>

    /// Deeper than any request.
    private static let depthLimit = 8

    init(_ line: LineSplitter.Line) {
        var id = JSONValue.null
        do throws(RequestMistake) {
            guard case .whole(let bytes) = line else { throw .tooLong(limit: LineConnection.lineLimit) }
            let value: JSONValue
            do throws(JSONError) { value = try JSONValue.parse(bytes, depthLimit: Self.depthLimit) } catch {
                throw .malformed(error.description)
            }
            guard let members = value.members else { throw .notARequest }
            id = try Self.id(of: value)
            request = .success(try RemoteRequest(members))
        } catch {
            request = .failure(error)
        }
        self.id = id
    }

    private static func id(of value: JSONValue) throws(RequestMistake) -> JSONValue {
        guard let id = value["id"] else { return .null }
        guard id.string != nil || id.number != nil else { throw .badID }
        return id
    }
}

extension RemoteRequest {
    /// The request that the members of a line's object stand for.
    init(_ members: [JSONValue.Member]) throws(RequestMistake) {
        let fields = RequestFields(members: members)
        guard let name = fields.value("request")?.string else { throw .notARequest }
        guard let form = Self.forms.first(where: { $0.name.utf8.elementsEqual(name.utf8) })
        else { throw .unknownRequest(name) }
        let known = ["id", "request"] + form.fields
        for member in members where !known.contains(where: { $0.utf8.elementsEqual(member.name.utf8) }) {
            throw .unknownField(member.name, known: form.fields)
        }
        self = try form.build(fields)
    }
}
