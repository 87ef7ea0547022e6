import ApplianceTestSupport
import Platform
import Player
import Testing

@testable import Appliance
@testable import Control

@Suite("The status of a streamed entry (docs/control.md)")
struct StreamStatusTests {
    private func member(_ name: String, _ change: (inout DaemonStatus) -> Void) -> String? {
        var status = DaemonStatus()
        change(&status)
        return ReplyLines.members(status).first { $0.name == name }?.value.serialized()
    }

    @Test(
        "The reason of the wait, and its length",
        arguments: [
            (nil, "null"), (.medium, #"{"for":"medium","seconds":null}"#), (.link, #"{"for":"link","seconds":null}"#),
            (.network(seconds: 3.25), #"{"for":"network","seconds":3.25}"#),
            (.service(seconds: 0.5), #"{"for":"service","seconds":0.5}"#),
        ] as [(WaitReason?, String)])
    func wait(wait: WaitReason?, expected: String) throws {
        let text = try #require(member("wait") { $0.wait = wait })
        #expect(try JSONValue.parse(Array(text.utf8)) == JSONValue.parse(Array(expected.utf8)))
    }

    @Test("How much of it has arrived; null for a file")
    func buffered() {
        #expect(member("buffered") { $0.buffered = 12.3456 } == "12.346")
        #expect(member("buffered") { _ in } == "null")
    }
}
