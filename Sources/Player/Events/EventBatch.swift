import Account
import Events
import Fetching
import Manifests
import Media
import Network
import Platform

/// A batch of events in the form in which the service takes them: the batches of a message queue, as form fields, with
/// an XML document as the answer (docs/service.md, "Events").
struct EventBatch {
    let events: [OutboxRows.Waiting]
    /// The account with whose login the batch is sent.
    var account = AccountMark.none
    /// Milliseconds since 1970 at which the batch is sent.
    let sentAt: Int64

    /// The statuses that refuse a batch for good.
    private static let refusals = [400, 413, 415, 422]
    private static let contentType = "application/x-www-form-urlencoded"

    /// - Parameter token: nil to send without a login.
    func request(_ settings: ServiceSettings, _ device: EventDevice, token: String?) -> TransferRequest {
        var fields: [(name: String, value: String)] = []
        for (index, event) in events.enumerated() {
            let entry = "SendMessageBatchRequestEntry.\(index + 1)"
            let headers = headers(of: event, settings, device)
            fields += [
                ("\(entry).Id", event.id), ("\(entry).MessageBody", event.body),
                ("\(entry).MessageAttribute.1.Name", "Name"),
                ("\(entry).MessageAttribute.1.Value.StringValue", event.name),
                ("\(entry).MessageAttribute.1.Value.DataType", "String"),
                ("\(entry).MessageAttribute.2.Name", "Headers"),
                ("\(entry).MessageAttribute.2.Value.StringValue", headers.serialized()),
                ("\(entry).MessageAttribute.2.Value.DataType", "String"),
            ]
        }
        let identity =
            if let token { HeaderField("Authorization", "Bearer \(token)") } else {
                HeaderField("x-tidal-token", settings.clientName)
            }
        var request = TransferRequest(
            .post(body: Array(FormText.text(of: fields).utf8), contentType: Self.contentType),
            url: settings.baseURL + "/v1/event-batch", headers: [identity])
        // A redirect would send the listening history to another server.
        request.isRedirectAllowed = false
        return request
    }

    private func headers(of event: OutboxRows.Waiting, _ settings: ServiceSettings, _ device: EventDevice) -> JSONValue
    {
        [
            "client-id": .string(settings.clientName), "consent-category": .string(event.category.serviceName),
            "requested-sent-timestamp": .integer(sentAt), "os-name": .string(device.operatingSystem),
            "os-version": .string(device.operatingSystemVersion), "app-version": .string(device.version),
        ]
    }

    /// Reads the answer. Events that the answer does not name stay for a later batch.
    func answer(_ response: Response) -> BatchAnswer {
        let status = response.head.status
        guard (200...299).contains(status) else {
            // Only the service itself can refuse events for good: a filter or a proxy knows nothing of them.
            if Self.refusals.contains(status), ServiceRefusal(status: status, body: response.body).isOfService {
                return .refusedBatch(events.map { $0.number })
            }
            // A service without this address takes no events now; but a later version may.
            return .failed(retryAfter: retryAfter(response.head))
        }
        let document: XMLElement
        do throws(ManifestError) { document = try XMLElement.parse(response.body) } catch {
            return .failed(retryAfter: nil)
        }
        guard document.is("SendMessageBatchResponse"), let result = document.child("SendMessageBatchResult") else {
            return .failed(retryAfter: nil)
        }
        let confirmed = numbers(of: result.children("SendMessageBatchResultEntry"))
        let faults = result.children("BatchResultErrorEntry").filter {
            $0.child("SenderFault")?.text.utf8.elementsEqual("true".utf8) ?? false
        }
        let refused = numbers(of: faults).filter { !confirmed.contains($0) }
        let left = events.map { $0.number }.filter { !confirmed.contains($0) && !refused.contains($0) }
        return .settled(confirmed: confirmed, refused: refused, left: left)
    }

    private func numbers(of entries: [XMLElement]) -> [Int64] {
        events.filter { event in
            entries.contains { $0.child("Id")?.text.utf8.elementsEqual(event.id.utf8) ?? false }
        }.map { $0.number }
    }

    /// The time that the service asks for, in nanoseconds; an hour at most.
    private func retryAfter(_ head: ResponseHead) -> Int64? {
        head.retryAfter.map { max(0, min($0, 3600)) * 1_000_000_000 }
    }
}

extension EventCategory {
    /// The service's name of the category.
    fileprivate var serviceName: String {
        switch self {
        case .playLog: "NECESSARY"
        case .statistics: "PERFORMANCE"
        }
    }
}
