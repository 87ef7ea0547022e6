import Foundation
import HTTPServer
import Platform
import TestSupport
import Testing

@testable import OriginService

/// docs/service.md, "Events".
@Suite("Events at the origin")
struct EventRoutesTests {
    private let folder: ScratchFolder
    private let routes: EventRoutes

    init() throws {
        folder = try ScratchFolder()
        routes = EventRoutes(store: try EventStore(in: folder.path), now: { 1_790_000_000 })
    }

    private func request(_ fields: [(String, String)], method: String = "POST") -> HTTPRequest {
        var request = HTTPRequest(method: method, path: EventRoutes.path)
        request.headers["content-type"] = "application/x-www-form-urlencoded"
        request.body = Array(FormText.text(of: fields).utf8)
        return request
    }

    private func entry(_ number: Int, _ id: String, _ body: String = #"{"ts":5,"payload":{}}"#, name: String? = "n")
        -> [(String, String)]
    {
        let entry = "SendMessageBatchRequestEntry.\(number)"
        var fields = [("\(entry).Id", id), ("\(entry).MessageBody", body)]
        if let name {
            fields += [
                ("\(entry).MessageAttribute.1.Name", "Name"), ("\(entry).MessageAttribute.1.Value.StringValue", name),
            ]
        }
        return fields
    }

    private func text(_ answer: HTTPAnswer) -> String {
        var bytes: [UInt8] = []
        for case .bytes(let piece) in answer.body.pieces { bytes += piece }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("stores each event once, in its order, and confirms it each time")
    func once() throws {
        let first = try routes.answer(to: request(entry(1, "a") + entry(2, "b")))
        let again = try routes.answer(to: request(entry(1, "b") + entry(2, "c")))
        #expect(first.status == 200 && again.status == 200)
        #expect(text(again).contains("<SendMessageBatchResultEntry><Id>b</Id>"))
        #expect(try routes.store.bodies(of: nil).count == 3)
    }

    @Test("an event that can never be stored is the sender's fault; the others are stored")
    func refused() throws {
        let answer = try routes.answer(
            to: request(
                entry(1, "a", "no JSON") + entry(2, "b") + entry(3, "c", name: nil)
                    + entry(4, "d", "\"" + String(repeating: "x", count: 20_480) + "\"")))
        let text = text(answer)
        for id in ["a", "c", "d"] { #expect(text.contains("<BatchResultErrorEntry><Id>\(id)</Id>"), "\(text)") }
        #expect(text.contains("<SendMessageBatchResultEntry><Id>b</Id>"))
        #expect(try routes.store.bodies(of: "n").count == 1)
    }

    @Test("a request without entries, with eleven, or with another method is refused")
    func mistakes() throws {
        #expect(try routes.answer(to: request([])).status == 400)
        #expect(try routes.answer(to: request((1...11).flatMap { entry($0, "e\($0)") })).status == 400)
        #expect(try routes.answer(to: request(entry(1, "a"), method: "GET")).status == 405)
        #expect(try routes.store.bodies(of: nil).isEmpty)
    }

    @Test("the time that was heard is the sum of the stretches")
    func heard() throws {
        let payload = try JSONValue.parse(
            """
            {"startAssetPosition":0,"endAssetPosition":40,"actions":[
            {"actionType":"PLAYBACK_STOP","assetPosition":10},{"actionType":"PLAYBACK_START","assetPosition":30},
            {"actionType":"PLAYBACK_STOP","assetPosition":35},{"actionType":"PLAYBACK_START","assetPosition":35}]}
            """)
        #expect(ReceivedEvents.heard(payload) == 20)
        #expect(ReceivedEvents.heard(["startAssetPosition": 2, "endAssetPosition": 5]) == 3)
    }
}
