import Foundation
import Platform

/// The messages about streaming privileges (docs/service.md, "Streaming privileges").
enum PrivilegeMessage {
    /// A press of play.
    struct UserAction: Equatable {
        /// Milliseconds since the press.
        var age: Int64
        /// Identifies the player over all of its connections; nil when it does not say so.
        var player: String?
        /// The number that the player gives it.
        var press: Int64?
    }

    /// Reads a message of a player. The age that it states counts, which needs no clock of the player, or else its
    /// time.
    /// - Parameter now: milliseconds since 1970. It is the time of an action without a readable one, and the latest
    ///   one: with a clock that is fast no player is ahead of the others.
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
        guard let text = value.string else { return nil }
        let formatter = ISO8601DateFormatter()
        for options: ISO8601DateFormatter.Options in [
            [.withInternetDateTime, .withFractionalSeconds], [.withInternetDateTime],
        ] {
            formatter.formatOptions = options
            if let date = formatter.date(from: text) {
                return Int64(exactly: (date.timeIntervalSince1970 * 1000).rounded())
            }
        }
        return nil
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
