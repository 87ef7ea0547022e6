import Foundation
import Platform

/// The messages about streaming privileges (docs/service.md, "Streaming privileges").
enum PrivilegeMessage {
    /// A press of play.
    struct UserAction: Equatable {
        /// Milliseconds since the press.
        var age: Int64
        /// Identifies the player over all of its connections; nil when it sends none.
        var player: String?
        /// The number that the player gives it.
        var press: Int64?
    }

    /// Reads a message of a player. Uses the age in the message, which needs no clock of the player, or else its time.
    /// - Parameter now: milliseconds since 1970. It is used for an action without a readable time. It is also the
    ///   latest possible time, so that a player with a fast clock has no advantage.
    /// - Returns: nil for other messages, which are ignored.
    static func action(_ text: String, now: Int64) -> UserAction? {
        guard let json = try? JSONValue.parse(text), json["type"]?.string == "USER_ACTION" else { return nil }
        let payload = json["payload"]
        var age = payload?["age"]?.number
        if age == nil, let startedAt = payload?["startedAt"].flatMap(milliseconds) {
            age = Double(now) - Double(startedAt)
        }
        return UserAction(
            age: Int64(min(max(0, age ?? 0), longestAge)), player: payload?["player"]?.string,
            press: payload?["press"]?.integer)
    }

    /// Ten years, in milliseconds. Older presses are all the same.
    private static let longestAge: Double = 320_000_000_000

    /// Players send a number, or text of ISO 8601.
    private static func milliseconds(_ value: JSONValue) -> Int64? {
        if let number = value.number { return Int64(exactly: number.rounded(.down)) }
        return value.string.flatMap(milliseconds)
    }

    /// Reads a time in the form of RFC 3339 (5.6), `2026-11-26T09:45:29.123Z`. Does not use Foundation, because some
    /// texts make its parser divide by zero.
    private static func milliseconds(_ text: String) -> Int64? {
        let form = /(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,20}))?(?:Z|([+-])(\d\d):(\d\d))/
        guard let parts = text.wholeMatch(of: form.asciiOnlyDigits())?.output,
            let year = Int(parts.1), let month = Int(parts.2), let day = Int(parts.3),
            let hour = Int(parts.4), let minute = Int(parts.5), let second = Int(parts.6),
            let time = CalendarTime.seconds(
                year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        else { return nil }
        let fraction = parts.7.map { Double("0.\($0)") ?? 0 } ?? 0
        let hours = parts.9.flatMap { Int64($0) } ?? 0
        let minutes = parts.10.flatMap { Int64($0) } ?? 0
        let offset = (hours * 60 + minutes) * (parts.8 == "-" ? -60 : 60)
        return (time - offset) * 1000 + Int64((fraction * 1000).rounded())
    }

    /// Another session has the privilege.
    /// - Parameters:
    ///   - age: milliseconds since its press.
    ///   - press: the number of the receiver's last press; nil when it numbers none.
    static func notification(name: String, session: String, age: Int64, press: Int64?, now: Int64) -> String {
        var payload: JSONValue = [
            "clientDisplayName": .string(name), "sessionId": .string(session), "age": .integer(age),
            "updatedAt": ["clientTime": .integer(now - age), "serverTime": .integer(now)],
        ]
        if let press { payload["press"] = .integer(press) }
        return JSONValue.object([
            .init("type", .string("PRIVILEGED_SESSION_NOTIFICATION")), .init("payload", payload),
        ]).serialized()
    }

    /// The player is to ask for another address and to connect there.
    static let reconnect = "{\"type\":\"RECONNECT\"}"
}
