import Appliance
import HTTPServer
import Platform
import Testing

@testable import Control

@Suite("Web: lines of the daemon are passed on as they are")
struct WebLinesTests {
    @Test("The line of a reply is the body, byte by byte")
    func reply() throws {
        // Blanks and escapes would not survive being parsed and written.
        let line = Array(#"{"ok":true, "title":"B\u0065e", "count":1.0}"#.utf8)
        let answer = try WebRequest.answer(of: line)
        #expect(answer.status == 200)
        #expect(try answer.body.bytes() == line)
        #expect(answer["Content-Type"] == "application/json")
    }

    @Test("A refusal gives the status", arguments: [("no-such-entry", 404), ("bad-request", 400), ("full", 409)])
    func refusal(code: String, status: Int) throws {
        let line = ReplyLines.refusal(nil, code: code, "no \"way\"").dropLast()
        let answer = try WebRequest.answer(of: Array(line))
        #expect(answer.status == status)
        #expect(try answer.body.bytes() == Array(line))
    }

    @Test("What is no reply is an error", arguments: ["", "{", "[]", #"{"ok":false}"#, #"{"id":1,"ok":true}"#])
    func noReply(line: String) {
        #expect(throws: WebRefusal.self) { try WebRequest.answer(of: Array(line.utf8)) }
    }

    @Test("An event keeps its line, and has the name that the line begins with")
    func event() throws {
        let line = Array(#"{"event":"volume", "volume":30}"#.utf8)
        let name = try #require(WebEventStream.name(ofEvent: line))
        #expect(String(decoding: name, as: UTF8.self) == "volume")
        let text = String(decoding: WebEventStream.event(name, line), as: UTF8.self)
        #expect(text == "event: volume\ndata: {\"event\":\"volume\", \"volume\":30}\n\n")
        for other in ["", "{", #"{"ok":true}"#, #"{"volume":1,"event":"volume"}"#] {
            #expect(WebEventStream.name(ofEvent: Array(other.utf8)) == nil)
        }
    }
}
