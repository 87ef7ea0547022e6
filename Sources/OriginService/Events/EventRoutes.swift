import Database
import HTTPServer
import Platform

/// Takes batches of events (docs/service.md, "Events"): the form fields of a message queue's batch, answered in XML.
///
/// Thread: any.
struct EventRoutes: Sendable {
    static let path = "/v1/event-batch"
    /// The most events of a batch, as players send them.
    private static let mostEntries = 10
    /// The longest event, in bytes.
    private static let longestEvent = 20_480
    private static let prefix = "SendMessageBatchRequestEntry."

    let store: EventStore
    /// Returns seconds since 1970.
    let now: @Sendable () -> Int64

    func answer(to request: HTTPRequest) throws(DatabaseError) -> HTTPAnswer {
        guard request.method == "POST" else { return .wrongMethod("POST") }
        guard let form = request.form, form.keys.contains(where: { $0.hasPrefix(Self.prefix) }) else {
            return .wrongParameter("SendMessageBatchRequestEntry.1.Id")
        }
        var (events, refused): ([EventStore.Event], [String]) = ([], [])
        for number in 1...Self.mostEntries {
            let entry = "\(Self.prefix)\(number)"
            guard let id = form["\(entry).Id"] else { break }
            guard let event = Self.event(id, form, entry) else {
                refused.append(id)
                continue
            }
            events.append(event)
        }
        guard form["\(Self.prefix)\(Self.mostEntries + 1).Id"] == nil else {
            return .wrongParameter("\(Self.prefix)\(Self.mostEntries + 1).Id")
        }
        try store.add(events, at: now())
        return Self.document(accepted: events.map(\.id), refused: refused)
    }

    /// - Returns: nil for an event that can never be stored.
    private static func event(_ id: String, _ form: [String: String], _ entry: String) -> EventStore.Event? {
        guard let body = form["\(entry).MessageBody"], body.utf8.count <= longestEvent, isName(id),
            let json = try? JSONValue.parse(body), json.members != nil
        else { return nil }
        let name = (1...10).lazy.compactMap { index -> String? in
            let attribute = "\(entry).MessageAttribute.\(index)"
            return form["\(attribute).Name"] == "Name" ? form["\(attribute).Value.StringValue"] : nil
        }.first
        guard let name, isName(name) else { return nil }
        return EventStore.Event(id: id, name: name, time: json["ts"]?.integer ?? 0, body: body)
    }

    /// Whether a text is an id of an entry or a name of an event: it needs no escape in XML.
    private static func isName(_ text: String) -> Bool {
        (1...80).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    private static func document(accepted: [String], refused: [String]) -> HTTPAnswer {
        var text = "<?xml version=\"1.0\"?><SendMessageBatchResponse><SendMessageBatchResult>"
        for id in accepted { text += "<SendMessageBatchResultEntry><Id>\(id)</Id></SendMessageBatchResultEntry>" }
        for id in refused where isName(id) {
            text +=
                "<BatchResultErrorEntry><Id>\(id)</Id><Code>InvalidMessageContents</Code>"
                + "<SenderFault>true</SenderFault></BatchResultErrorEntry>"
        }
        text += "</SendMessageBatchResult></SendMessageBatchResponse>"
        return HTTPAnswer(
            headers: [HTTPField("Content-Type", "text/xml"), HTTPField("Cache-Control", "no-store")],
            body: ContentBody(Array(text.utf8)))
    }
}
