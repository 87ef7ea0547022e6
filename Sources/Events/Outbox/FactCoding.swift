import Platform

/// Facts and beginnings of sessions as JSON texts in the database. Members keep their names after a release.
///
/// A text that this version does not understand is nil: its session ends with the facts that are understood.
enum FactCoding {
    private enum Name: Int {
        case fetched = 0
        case opened = 1
        case requested = 2
        case started = 3
        case stopped = 4
        case changed = 5
        case reached = 6
        case ended = 7

        var json: JSONValue { .integer(Int64(rawValue)) }
    }

    static func text(of start: SessionStart) -> String {
        var value: JSONValue = [
            "id": .string(start.id), "kind": .integer(Int64(start.kind.rawValue)),
            "reason": .integer(Int64(start.reason.rawValue)), "video": .boolean(start.isVideo),
            "product": .string(start.productId), "offline": .boolean(start.isOfflineMode),
            "link": .integer(Int64(start.link.rawValue)),
        ]
        value["time"] = json(start.time)
        if let source = start.source {
            value["source"] = ["type": JSONValue(source.type), "id": JSONValue(source.id)]
        }
        if start.account != .none { value["account"] = .integer(start.account.rawValue) }
        if !start.extras.isEmpty {
            value["extras"] = .object(start.extras.map { .init($0.key, .string($0.value)) })
        }
        return value.serialized()
    }

    static func start(_ text: String) -> SessionStart? {
        guard let value = parse(text), let id = value["id"]?.string, let product = value["product"]?.string,
            let time = value["time"].flatMap({ self.time($0) }),
            let kind = number(value["kind"]).flatMap({ SessionStart.Kind(rawValue: $0) }),
            let reason = number(value["reason"]).flatMap({ SessionStart.Reason(rawValue: $0) }),
            let link = number(value["link"]).flatMap({ SessionStart.Link(rawValue: $0) })
        else { return nil }
        var extras: [String: String] = [:]
        for member in value["extras"]?.members ?? [] { extras[member.name] = member.value.string }
        return SessionStart(
            id: id, time: time, kind: kind, reason: reason, isVideo: value["video"]?.boolean ?? false,
            productId: product,
            source: value["source"].map { EventSource(type: $0["type"]?.string, id: $0["id"]?.string) },
            extras: extras, isOfflineMode: value["offline"]?.boolean ?? false, link: link,
            account: AccountMark(rawValue: value["account"]?.integer ?? 0))
    }

    static func text(of fact: SessionFact) -> String {
        var value: JSONValue =
            switch fact.kind {
            case .fetched(let fetch):
                [
                    "is": Name.fetched.json, "what": .integer(Int64(fetch.resource.rawValue)),
                    "took": .integer(fetch.milliseconds), "end": json(fetch.end),
                ]
            case .opened(let content):
                [
                    "is": Name.opened.json, "product": .string(content.productId),
                    "stream": .string(content.streamType),
                    "presentation": .string(content.assetPresentation), "mode": JSONValue(content.audioMode),
                    "quality": JSONValue(content.quality), "copy": .boolean(content.isOfflineCopy),
                    "duration": JSONValue(content.duration),
                ]
            case .requested: ["is": Name.requested.json]
            case .started(let position): ["is": Name.started.json, "at": .real(position)]
            case .stopped(let position, let reason):
                ["is": Name.stopped.json, "at": .real(position), "why": .integer(Int64(reason.rawValue))]
            case .changed(let position, let representation):
                [
                    "is": Name.changed.json, "at": .real(position), "quality": JSONValue(representation.quality),
                    "codec": .string(representation.codec), "bandwidth": JSONValue(representation.bandwidth),
                ]
            case .reached(let position): ["is": Name.reached.json, "at": .real(position)]
            case .ended(let position, let end):
                ["is": Name.ended.json, "at": JSONValue(position), "end": json(end)]
            }
        value["time"] = json(fact.time)
        return value.serialized()
    }

    static func fact(_ text: String) -> SessionFact? {
        guard let value = parse(text), let time = value["time"].flatMap({ self.time($0) }),
            let name = number(value["is"]).flatMap({ Name(rawValue: $0) })
        else { return nil }
        return kind(name, value).map { SessionFact(time, $0) }
    }

    private static func kind(_ name: Name, _ value: JSONValue) -> SessionFact.Kind? {
        let position = value["at"]?.number
        switch name {
        case .fetched:
            guard let resource = number(value["what"]).flatMap({ SessionFetch.Resource(rawValue: $0) }),
                let milliseconds = value["took"]?.integer, let end = value["end"].flatMap({ self.end($0) })
            else { return nil }
            return .fetched(SessionFetch(resource, milliseconds: milliseconds, end))
        case .opened:
            guard let product = value["product"]?.string, let stream = value["stream"]?.string,
                let presentation = value["presentation"]?.string
            else { return nil }
            return .opened(
                SessionContent(
                    productId: product, streamType: stream, assetPresentation: presentation,
                    audioMode: value["mode"]?.string, quality: value["quality"]?.string,
                    isOfflineCopy: value["copy"]?.boolean ?? false, duration: value["duration"]?.number))
        case .requested: return .requested
        case .started: return position.map { .started(position: $0) }
        case .stopped:
            guard let position, let reason = number(value["why"]).flatMap({ StopReason(rawValue: $0) }) else {
                return nil
            }
            return .stopped(position: position, reason)
        case .changed:
            guard let position, let codec = value["codec"]?.string else { return nil }
            return .changed(
                position: position,
                SessionRepresentation(
                    quality: value["quality"]?.string, codec: codec, bandwidth: number(value["bandwidth"])))
        case .reached: return position.map { .reached(position: $0) }
        case .ended: return value["end"].flatMap { end($0) }.map { .ended(position: position, $0) }
        }
    }

    private static func parse(_ text: String) -> JSONValue? {
        do throws(JSONError) { return try JSONValue.parse(text) } catch { return nil }
    }

    private static func number(_ value: JSONValue?) -> Int? { value?.integer.map { Int(clamping: $0) } }

    /// Only a time that is not proved has to be corrected later.
    private static func json(_ time: EventTime) -> JSONValue {
        guard !time.isProved, let start = time.systemStart else {
            return [.integer(time.milliseconds), .boolean(time.isProved)]
        }
        return [.integer(time.milliseconds), false, .integer(start.milliseconds), .string(start.boot)]
    }

    private static func time(_ value: JSONValue) -> EventTime? {
        guard let milliseconds = value[0]?.integer else { return nil }
        var time = EventTime(milliseconds: milliseconds, isProved: value[1]?.boolean ?? false)
        if let start = value[2]?.integer, let boot = value[3]?.string {
            time.systemStart = SystemStart(boot: boot, milliseconds: start)
        }
        return time
    }

    private static func json(_ end: SessionEnd) -> JSONValue {
        switch end {
        case .complete: "complete"
        case .other: "other"
        case .failed(let code, let message): [.string(code), .string(message)]
        }
    }

    private static func end(_ value: JSONValue) -> SessionEnd? {
        switch value {
        case .string(let word) where word.utf8.elementsEqual("complete".utf8): return .complete
        case .string(let word) where word.utf8.elementsEqual("other".utf8): return .other
        case .array: return .failed(code: value[0]?.string ?? "", message: value[1]?.string ?? "")
        default: return nil
        }
    }
}
