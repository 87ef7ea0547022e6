import Appliance
import Platform
import Queue

/// The JSON form of each request.
struct RequestForm {
    let name: String
    let kind: RequestKind
    /// The fields besides `id` and `request`.
    let fields: [String]
    /// The new form, for an old form. The reply names it.
    var replacement: String?
    let build: (RequestFields) throws(RequestMistake) -> RemoteRequest

    init(
        _ name: String, _ kind: RequestKind, _ fields: [String] = [], replacement: String? = nil,
        _ build: @escaping (RequestFields) throws(RequestMistake) -> RemoteRequest
    ) {
        self.name = name
        self.kind = kind
        self.fields = fields
        self.replacement = replacement
        self.build = build
    }
}

extension RemoteRequest {
    /// The most entries of the queue in one reply.
    static let pageLimit = 500

    /// The names of the requests, without old forms.
    static let names = forms.filter { $0.replacement == nil }.map { $0.name }
    static let focusNames = ["none", "background", "limited", "full"]
    static let powerNames = ["active", "resigning", "suspended", "regaining"]
    static let repeatNames = ["off", "all", "one"]

    // Safe: built once, never changed, and its closures capture nothing.
    nonisolated(unsafe) static let forms =
        ownForms + DownloadJSON.forms + LoudnessJSON.forms + LibraryJSON.forms + PlaylistJSON.forms
        + ServiceLoginJSON.forms + WiFiJSON.forms + UpdateJSON.forms + MachineJSON.forms

    // Safe: as above.
    private nonisolated(unsafe) static let ownForms = [
        RequestForm("status", .music) { _ in .immediate(.status) },
        RequestForm("version", .music) { _ in .immediate(.version) },
        RequestForm("events", .music) { _ in .immediate(.events) },
        RequestForm("devices", .music) { _ in .later(.devices) },
        RequestForm("subscribe", .music, ["events"]) { fields throws(RequestMistake) in
            .subscribe(try events(fields))
        },
        RequestForm("unsubscribe", .music, ["events"]) { fields throws(RequestMistake) in
            .unsubscribe(try events(fields))
        },
        RequestForm("play", .music, ["entry", "index"]) { fields throws(RequestMistake) in
            let id = try fields.entryID("entry")
            let index = try fields.integer("index", in: 0...(.max))
            if id != nil, index != nil { throw .notOneOf("entry", "index") }
            return .immediate(.play(id.map { .id($0) } ?? index.map { .index($0) }))
        },
        RequestForm("pause", .music) { _ in .immediate(.command(.pause)) },
        RequestForm("toggle", .music) { _ in .immediate(.command(.toggle)) },
        RequestForm("stop", .music) { _ in .immediate(.command(.stop)) },
        RequestForm("next", .music) { _ in .immediate(.command(.next)) },
        RequestForm("previous", .music) { _ in .immediate(.command(.previous)) },
        RequestForm("seek", .music, ["position", "offset"]) { fields throws(RequestMistake) in
            let change = try fields.change("position", by: "offset", "a number of seconds")
            if case .to(let position) = change, position < 0 {
                throw .notAllowed(field: "position", allowed: "a number of seconds from 0 on")
            }
            return .immediate(.seek(change))
        },
        RequestForm("volume", .music, ["percent", "change"]) { fields throws(RequestMistake) in
            let percent = try fields.integer("percent", in: 0...100)
            let change = try fields.integer("change", in: -100...100)
            switch (percent, change) {
            case (let percent?, nil): return .immediate(.volume(.to(Double(percent))))
            case (nil, let change?): return .immediate(.volume(.by(Double(change))))
            default: throw .notOneOf("percent", "change")
            }
        },
        RequestForm("mute", .music, ["on"]) { fields throws(RequestMistake) in
            .immediate(.mute(try fields.boolean("on")))
        },
        RequestForm("volume-up", .music) { _ in .immediate(.command(.volumeUp)) },
        RequestForm("volume-down", .music) { _ in .immediate(.command(.volumeDown)) },
        RequestForm("shuffle", .music, ["on"]) { fields throws(RequestMistake) in
            .immediate(.shuffle(try fields.boolean("on")))
        },
        RequestForm("repeat", .music, ["mode"]) { fields throws(RequestMistake) in
            .immediate(.repeatMode([.off, .all, .one][try fields.choice("mode", of: repeatNames)]))
        },
        RequestForm("queue", .music, ["from", "count"]) { fields throws(RequestMistake) in
            .immediate(
                .queue(
                    from: try fields.integer("from", in: 0...(.max)) ?? 0,
                    count: try fields.integer("count", in: 0...pageLimit) ?? pageLimit))
        },
        RequestForm("queue-collect", .music, ["products"]) { fields throws(RequestMistake) in
            .music(try fields.paths("products"), for: .collection)
        },
        RequestForm("queue-set", .music, ["products", "index", "play"]) { fields throws(RequestMistake) in
            .music(
                try fields.paths("products"),
                for: .queue(
                    .all(start: try fields.integer("index", in: 0...(.max)), plays: try fields.boolean("play"))))
        },
        RequestForm("queue-add", .music, ["products"]) { fields throws(RequestMistake) in
            .music(try fields.paths("products"), for: .queue(.end))
        },
        RequestForm("queue-insert", .music, ["products", "index"]) { fields throws(RequestMistake) in
            let index = try fields.integer("index", in: 0...(.max))
            return .music(try fields.paths("products"), for: .queue(index.map { .index($0) } ?? .next))
        },
        RequestForm("queue-move", .music, ["entry", "index"]) { fields throws(RequestMistake) in
            guard let id = try fields.entryID("entry")
            else { throw .missing(field: "entry", allowed: "the id of an entry") }
            guard let index = try fields.integer("index", in: 0...(.max))
            else { throw .missing(field: "index", allowed: "a whole number from 0 on") }
            return .immediate(.queueMove(id, to: index))
        },
        RequestForm("queue-remove", .music, ["entries", "from", "count"]) { fields throws(RequestMistake) in
            let from = try fields.integer("from", in: 0...(.max))
            guard fields.has("entries") != (from != nil) else { throw .notOneOf("entries", "from") }
            guard let from else {
                if fields.has("count") { throw .notOneOf("entries", "count") }
                return .immediate(.queueRemove(.ids(try fields.entryIDs("entries"))))
            }
            let count = try fields.integer("count", in: 0...PlayQueue.capacity) ?? 1
            return .immediate(.queueRemove(.range(from: from, count: count)))
        },
        RequestForm("queue-clear", .music) { _ in .immediate(.queueClear) },
        RequestForm("focus", .music, ["level", "hold"]) { fields throws(RequestMistake) in
            let level = [FocusLevel.none, .background, .limited, .full][try fields.choice("level", of: focusNames)]
            return .immediate(.focus(level, isHeld: try fields.boolean("hold") ?? false))
        },
        RequestForm("power", .system, ["state"]) { fields throws(RequestMistake) in
            .immediate(
                .power([.active, .resigning, .suspended, .regaining][try fields.choice("state", of: powerNames)]))
        },
        RequestForm("config-get", .music, ["key"]) { fields throws(RequestMistake) in
            .immediate(.configurationGet(fields.has("key") ? try setting(fields) : nil))
        },
        RequestForm("config-set", .setting, ["key", "value"]) { fields throws(RequestMistake) in
            .immediate(
                .configurationSet(try setting(fields), try fields.text("value", "a text, as a file has it: \"40 %\"")))
        },
        RequestForm("config-unset", .setting, ["key"]) { fields throws(RequestMistake) in
            .immediate(.configurationUnset(try setting(fields)))
        },
        RequestForm("network-restart", .system) { _ in .immediate(.command(.networkRestart)) },
        RequestForm("restart", .system) { _ in .immediate(.command(.restart)) },
        RequestForm("power-off", .system) { _ in .immediate(.command(.powerOff)) },
        RequestForm(
            "system", .system, ["action"],
            replacement: "system is deprecated: send the request network-restart or power-off"
        ) { fields throws(RequestMistake) in
            let commands = [ApplianceCommand.networkRestart, .powerOff]
            return .immediate(.command(commands[try fields.choice("action", of: commands.map { $0.name })]))
        },
    ]

    /// Returns the events that a request names; all events when it names none.
    private static func events(_ fields: RequestFields) throws(RequestMistake) -> RemoteEventSet {
        guard let value = fields.value("events") else { return .all }
        let allowed = "a list of names: \(RemoteEventSet.names.joined(separator: ", "))"
        guard let elements = value.elements else { throw .notAllowed(field: "events", allowed: allowed) }
        var events: RemoteEventSet = []
        for element in elements {
            guard let name = element.string,
                let place = RemoteEventSet.names.firstIndex(where: { $0.utf8.elementsEqual(name.utf8) })
            else { throw .notAllowed(field: "events", allowed: allowed) }
            events.insert(RemoteEventSet(place))
        }
        return events
    }

    private static func setting(_ fields: RequestFields) throws(RequestMistake) -> SettingName {
        let path = try fields.text("key", "a setting, like audio.buffer")
        do throws(SettingError) {
            return try SettingName(path: path)
        } catch {
            throw .unknownSetting(error.description)
        }
    }
}
