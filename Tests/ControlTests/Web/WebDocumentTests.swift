import ApplianceTestSupport
import Foundation
import Platform
import Testing

@testable import Appliance
@testable import Control

@Suite("docs/openapi.json matches the code")
struct WebDocumentTests {
    private let document: JSONValue
    /// Allowed values of fields; other fields are texts.
    private let samples: [String: JSONValue] = [
        "from": 0, "index": 0, "entry": 1, "list": "artists", "products": [["path": "/x"]],
    ]

    init() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        document = try JSONValue.parse(Array(Data(contentsOf: root.appending(path: "docs/openapi.json"))))
    }

    @Test("It has all requests, and those of the web server itself")
    func requests() {
        let described = (document["paths"]?.members ?? []).map { String($0.name.dropFirst(5)) }
        let own = ["session", "events", "cover", "login", "logout"]
        // `events` is a request of the socket, too: over HTTP its name stands for the stream.
        #expect(Set(described) == Set(WebRequest.names + own))
        #expect(described.count == Set(described).count)
    }

    @Test("Each request has its fields, and the bounds of the code")
    func fields() throws {
        for form in RemoteRequest.forms where WebRequest.names.contains(form.name) {
            let body = document["paths"]?["/api/\(form.name)"]?["post"]?["requestBody"]
            let schema = try #require(body?["content"]?["application/json"]?["schema"], "\(form.name)")
            #expect(Set((schema["properties"]?.members ?? []).map(\.name)) == Set(form.fields), "\(form.name)")
            #expect(schema["additionalProperties"] == false)
            for member in schema["properties"]?.members ?? [] {
                guard let highest = member.value["maximum"]?.integer else { continue }
                var fields = schema["required"]?.elements?.compactMap(\.string).filter { $0 != member.name } ?? []
                if member.name == "count", form.fields.contains("from") { fields.append("from") }
                let members = Set(fields).map { JSONValue.Member($0, samples[$0] ?? "x") }
                let beyond = RequestFields(members: members + [.init(member.name, .integer(highest + 1))])
                let mistake = #expect(throws: RequestMistake.self) { try form.build(beyond) }
                #expect(mistake?.description.hasPrefix("\(member.name): must be") == true, "\(form.name) \(mistake!)")
            }
        }
    }
}
