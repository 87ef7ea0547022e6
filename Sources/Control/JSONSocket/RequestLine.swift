import Appliance
import Platform

/// A line that a client has sent.
struct RequestLine {
    /// The id of the request, which the reply repeats; `.null` when it is unknown.
    let id: JSONValue
    let request: Result<RemoteRequest, RequestMistake>
    /// The kind of the request; nil for an unknown one.
    let kind: RequestKind?
    /// The new form to name in the reply, for a request in an old form.
    let notice: String?

    /// The most bytes of an id: each reply repeats it.
    static let idLimit = 1024
    /// The depth limit of the JSON: deeper than any request.
    private static let depthLimit = 8

    init(_ line: LineSplitter.Line) {
        var id = JSONValue.null
        var kind: RequestKind?
        var notice: String?
        do throws(RequestMistake) {
            guard case .whole(let bytes) = line else { throw .tooLong(limit: LineConnection.lineLimit) }
            let value: JSONValue
            do throws(JSONError) { value = try JSONValue.parse(bytes, depthLimit: Self.depthLimit) } catch {
                throw .malformed(error.description)
            }
            guard let members = value.members else { throw .notARequest }
            id = try Self.id(of: value)
            let form = try RequestForm.form(of: members)
            kind = form.kind
            notice = form.replacement
            request = .success(try form.build(RequestFields(members: members)))
        } catch {
            request = .failure(error)
        }
        self.id = id
        self.kind = kind
        self.notice = notice
    }

    private static func id(of value: JSONValue) throws(RequestMistake) -> JSONValue {
        guard let id = value["id"] else { return .null }
        if let text = id.string, text.utf8.count > idLimit { throw .badID(limit: idLimit) }
        guard id.string != nil || id.number != nil else { throw .badID(limit: idLimit) }
        return id
    }
}

extension RequestForm {
    /// Returns the form of the request in a line's object, and refuses fields that the form does not have.
    static func form(of members: [JSONValue.Member]) throws(RequestMistake) -> RequestForm {
        guard let name = RequestFields(members: members).value("request")?.string else { throw .notARequest }
        guard let form = RemoteRequest.forms.first(where: { $0.name.utf8.elementsEqual(name.utf8) })
        else { throw .unknownRequest(name) }
        let known = ["id", "request"] + form.fields
        for member in members where !known.contains(where: { $0.utf8.elementsEqual(member.name.utf8) }) {
            throw .unknownField(member.name, known: form.fields)
        }
        return form
    }
}
