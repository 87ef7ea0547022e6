import Platform

extension OutboxRows.Waiting {
    /// Returns the event with its real times, if it was recorded before the clock was proved in this start of the
    /// system. Otherwise the event is unchanged, and stays marked.
    /// - Parameter proof: the present start of the system by the clock; nil while it is not proved.
    package func corrected(by proof: SystemStart?) -> OutboxRows.Waiting {
        guard let error = systemStart?.error(by: proof), let body = TimeCorrection.corrected(body, by: error) else {
            return self
        }
        var event = self
        event.body = body
        event.systemStart = nil
        return event
    }
}

/// Moves the times in an event's text.
enum TimeCorrection {
    /// Returns the text with all times moved by `error` milliseconds, and without the mark; nil for a text that is not
    /// an event.
    static func corrected(_ text: String, by error: Int64) -> String? {
        guard var event = try? JSONValue.parse(text), let time = event["ts"]?.integer, let payload = event["payload"]
        else { return nil }
        event["ts"] = .integer(time + error)
        event["payload"] = moved(payload, by: error)
        event["tsIsEstimated"] = nil
        return event.serialized()
    }

    /// All times of payloads are integers with one of these names.
    private static let names = [
        "timestamp", "startTimestamp", "endTimestamp", "idealStartTimestamp", "actualStartTimestamp",
    ]

    private static func moved(_ value: JSONValue, by error: Int64) -> JSONValue {
        switch value {
        case .array(let elements): .array(elements.map { moved($0, by: error) })
        case .object(let members):
            .object(
                members.map { member in
                    if case .integer(let time) = member.value, isTime(member.name) {
                        return JSONValue.Member(member.name, .integer(time + error))
                    }
                    return JSONValue.Member(member.name, moved(member.value, by: error))
                })
        default: value
        }
    }

    private static func isTime(_ name: String) -> Bool { names.contains { $0.utf8.elementsEqual(name.utf8) } }
}
