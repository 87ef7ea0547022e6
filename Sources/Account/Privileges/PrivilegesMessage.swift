import Platform

/// A message of the service about streaming privileges.
enum PrivilegesMessage: Equatable, Sendable {
    /// Another device plays.
    /// - Parameters:
    ///   - otherDevice: its name, for users; nil when the service sends none.
    ///   - known: the number of the last request of this device that the service knew; nil when it does not say so.
    case revoked(otherDevice: String?, known: Int64?)
    /// Connect again, because the server goes away.
    case reconnect
    /// A message of another kind, which is ignored.
    case other

    /// The longest name of a device that is shown, in characters.
    private static let longestName = 100

    /// Reads a message leniently: unknown fields and unknown kinds are ignored, and so is text that is no JSON.
    init(_ text: String) {
        guard let message = try? JSONValue.parseForeign(Array(text.utf8)), let type = message["type"]?.string else {
            self = .other
            return
        }
        if type.utf8.elementsEqual("RECONNECT".utf8) {
            self = .reconnect
        } else if type.utf8.elementsEqual("PRIVILEGED_SESSION_NOTIFICATION".utf8) {
            let payload = message["payload"]
            self = .revoked(
                otherDevice: Self.name(payload?["clientDisplayName"]?.string),
                known: payload?["press"]?.integer)
        } else {
            self = .other
        }
    }

    /// Returns a name that can be shown on one line.
    private static func name(_ text: String?) -> String? {
        var name = ""
        for scalar in (text ?? "").unicodeScalars.prefix(longestName)
        where scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value) {
            name.unicodeScalars.append(scalar)
        }
        return name.isEmpty ? nil : name
    }

    /// Returns the message that the user has pressed play.
    /// - Parameters:
    ///   - startedAt: milliseconds since 1970, by the clock of this device.
    ///   - age: the milliseconds since then. A service that reads it needs no clock of a device.
    ///   - player: identifies this program while it runs.
    ///   - number: counts the messages of the player.
    static func userAction(startedAt: Int64, age: Int64, player: String, number: Int64) -> String {
        let message: JSONValue = [
            "type": "USER_ACTION",
            "payload": [
                "startedAt": .integer(startedAt), "age": .integer(age), "player": .string(player),
                "press": .integer(number),
            ],
        ]
        return message.serialized()
    }
}
