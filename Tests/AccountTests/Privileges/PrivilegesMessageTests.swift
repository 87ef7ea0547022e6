import PlayerTestSupport
import Testing

@testable import Account
@testable import Player

@Suite("Messages about streaming privileges")
struct PrivilegesMessageTests {
    @Test(
        "are read leniently",
        arguments: [
            (#"{"type":"RECONNECT"}"#, .reconnect),
            (#"{"type":"PRIVILEGED_SESSION_NOTIFICATION"}"#, .revoked(otherDevice: nil, known: nil)),
            (
                #"{"type":"PRIVILEGED_SESSION_NOTIFICATION","payload":{"clientDisplayName":"Kitchen","sessionId":"1","#
                    + #""updatedAt":{"clientTime":999500,"serverTime":5},"endsAt":{"clientTime":1}},"more":[1]}"#,
                .revoked(otherDevice: "Kitchen", known: nil)
            ),
            (
                #"{"type":"PRIVILEGED_SESSION_NOTIFICATION","payload":{"clientDisplayName":"a\u0007\nb\u009bc","#
                    + #""updatedAt":{"clientTime":"2026-01-01T00:00:00Z"}}}"#,
                .revoked(otherDevice: "abc", known: nil)
            ),
            (
                #"{"type":"PRIVILEGED_SESSION_NOTIFICATION","payload":{"clientDisplayName":7,"#
                    + #""press":1e300}}"#,
                .revoked(otherDevice: nil, known: nil)
            ),
            (
                #"{"type":"PRIVILEGED_SESSION_NOTIFICATION","payload":{"press":7,"age":250}}"#,
                .revoked(otherDevice: nil, known: 7)
            ),
            (#"{"type":"PRIVILEGED_SESSION_NOTIFICATION","payload":"x"}"#, .revoked(otherDevice: nil, known: nil)),
            (#"{"type":"SOMETHING_ELSE"}"#, .other), (#"{"type":7}"#, .other), ("[]", .other), ("", .other),
            ("no JSON", .other),
        ] as [(String, PrivilegesMessage)])
    func reading(text: String, message: PrivilegesMessage) {
        #expect(PrivilegesMessage(text) == message)
    }

    @Test("A name is cut to 100 characters")
    func longName() {
        let name = String(repeating: "ä", count: 300)
        let text = #"{"type":"PRIVILEGED_SESSION_NOTIFICATION","payload":{"clientDisplayName":"\#(name)"}}"#
        let expected = PrivilegesMessage.revoked(otherDevice: String(repeating: "ä", count: 100), known: nil)
        #expect(PrivilegesMessage(text) == expected)
    }

    @Test("The press of play is sent with its time in milliseconds")
    func userAction() {
        #expect(
            PrivilegesMessage.userAction(startedAt: 1_764_000_000_123, age: 40, player: "p", number: 3)
                == #"{"type":"USER_ACTION","payload":{"startedAt":1764000000123,"age":40,"player":"p","press":3}}"#)
    }
}
