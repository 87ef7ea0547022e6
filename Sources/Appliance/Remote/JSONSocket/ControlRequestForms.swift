import Platform

/// How each request is written.
struct ControlRequestForm {
    let name: String
    /// Besides `id` and `request`.
    let fields: [String]
    let build: (ControlFields) throws(ControlRequestError) -> ControlRequest

    init(
        _ name: String, _ fields: [String] = [],
        _ build: @escaping (ControlFields) throws(ControlRequestError) -> ControlRequest
    ) {
        self.name = name
        self.fields = fields
        self.build = build
    }
}

extension ControlRequest {
    /// The most entries of the queue that one reply tells.
    static let pageLimit = 500

    static let names = forms.map { $0.name }
    static let focusNames = ["none", "background", "limited", "full"]
    static let powerNames = ["active", "resigning", "suspended", "regaining"]
    static let repeatNames = ["off", "all", "one"]

    nonisolated(unsafe) static let forms = [
        ControlRequestForm("status") { _ in .status },
        ControlRequestForm("version") { _ in .version },
        ControlRequestForm("subscribe", ["events"]) { fields throws(ControlRequestError) in
            .subscribe(try events(fields))
        },
        ControlRequestForm("unsubscribe", ["events"]) { fields throws(ControlRequestError) in
            .unsubscribe(try events(fields))
        },
        ControlRequestForm("play", ["entry", "index"]) { fields throws(ControlRequestError) in
            let id = try fields.entryID("entry")
            let index = try fields.integer("index", in: 0...(.max))
            if id != nil, index != nil { throw .notOneOf("entry", "index") }
            return .play(id.map { .id($0) } ?? index.map { .index($0) })
        },
        ControlRequestForm("pause") { _ in .command(.pause) },
        ControlRequestForm("toggle") { _ in .command(.toggle) },
        ControlRequestForm("stop") { _ in .command(.stop) },
        ControlRequestForm("next") { _ in .command(.next) },
        ControlRequestForm("previous") { _ in .command(.previous) },
        ControlRequestForm("seek", ["position", "offset"]) { fields throws(ControlRequestError) in
            let change = try fields.change("position", by: "offset", "a number of seconds")
            if case .to(let position) = change, position < 0 {
                throw .notAllowed(field: "position", allowed: "a number of seconds from 0 on")
            }
            return .seek(change)
        },
        ControlRequestForm("volume", ["percent", "change"]) { fields throws(ControlRequestError) in
            let percent = try fields.integer("percent", in: 0...100)
            let change = try fields.integer("change", in: -100...100)
            switch (percent, change) {
            case (let percent?, nil): return .volume(.to(Double(percent)))
            case (nil, let change?): return .volume(.by(Double(change)))
            default: throw .notOneOf("percent", "change")
            }
        },
        ControlRequestForm("mute", ["on"]) { fields throws(ControlRequestError) in .mute(try fields.boolean("on")) },
        ControlRequestForm("shuffle", ["on"]) { fields throws(ControlRequestError) in
            guard let on = try fields.boolean("on") else { throw .missing(field: "on", allowed: "true or false") }
            return .shuffle(on)
        },
        ControlRequestForm("repeat", ["mode"]) { fields throws(ControlRequestError) in
            .repeatMode([.off, .all, .one][try fields.choice("mode", of: repeatNames)])
        },
        ControlRequestForm("queue", ["from", "count"]) { fields throws(ControlRequestError) in
            .queue(
                from: try fields.integer("from", in: 0...(.max)) ?? 0,
                count: try fields.integer("count", in: 0...pageLimit) ?? pageLimit)
        },
        ControlRequestForm("queue-collect", ["products"]) { fields throws(ControlRequestError) in
            .collect(try fields.paths("products"))
        },
        ControlRequestForm("queue-set", ["products", "index", "play"]) { fields throws(ControlRequestError) in
            .music(
                try fields.paths("products"),
                .all(start: try fields.integer("index", in: 0...(.max)), plays: try fields.boolean("play")))
        },
        ControlRequestForm("queue-add", ["products"]) { fields throws(ControlRequestError) in
            .music(try fields.paths("products"), .end)
        },
        ControlRequestForm("queue-insert", ["products", "index"]) { fields throws(ControlRequestError) in
            let index = try fields.integer("index", in: 0...(.max))
            return .music(try fields.paths("products"), index.map { .index($0) } ?? .next)
        },
        ControlRequestForm("queue-move", ["entry", "index"]) { fields throws(ControlRequestError) in
            guard let id = try fields.entryID("entry")
            else { throw .missing(field: "entry", allowed: "the id of an entry") }
            guard let index = try fields.integer("index", in: 0...(.max))
            else { throw .missing(field: "index", allowed: "a whole number from 0 on") }
            return .queueMove(id, to: index)
        },
        ControlRequestForm("queue-remove", ["entries", "from", "count"]) { fields throws(ControlRequestError) in
            let from = try fields.integer("from", in: 0...(.max))
            guard fields.has("entries") != (from != nil) else { throw .notOneOf("entries", "from") }
            guard let from else {
                if fields.has("count") { throw .notOneOf("entries", "count") }
                return .queueRemove(.ids(try fields.entryIDs("entries")))
            }
            let count = try fields.integer("count", in: 0...PlayQueue.capacity) ?? 1
            let (end, overflow) = from.addingReportingOverflow(count)
            return .queueRemove(.range(from..<(overflow ? .max : end)))
        },
        ControlRequestForm("queue-clear") { _ in .queueClear },
        ControlRequestForm("focus", ["level", "hold"]) { fields throws(ControlRequestError) in
            let level = [FocusLevel.none, .background, .limited, .full][try fields.choice("level", of: focusNames)]
            return .focus(level, isHeld: try fields.boolean("hold") ?? false)
        },
        ControlRequestForm("power", ["state"]) { fields throws(ControlRequestError) in
            .power([.active, .resigning, .suspended, .regaining][try fields.choice("state", of: powerNames)])
        },
        ControlRequestForm("config-get", ["key"]) { fields throws(ControlRequestError) in
            .configurationGet(fields.has("key") ? try setting(fields) : nil)
        },
        ControlRequestForm("config-set", ["key", "value"]) { fields throws(ControlRequestError) in
            .configurationSet(try setting(fields), try fields.text("value", "a text, as a file has it: \"40 %\""))
        },
        ControlRequestForm("config-unset", ["key"]) { fields throws(ControlRequestError) in
            .configurationUnset(try setting(fields))
        },
        ControlRequestForm("system", ["action"]) { fields throws(ControlRequestError) in
            let commands = [ApplianceCommand.networkRestart, .powerOff]
            return .command(commands[try fields.choice("action", of: commands.map { $0.name })])
        },
    ]

    /// The events that a request names; all where it names none.
    private static func events(_ fields: ControlFields) throws(ControlRequestError) -> ControlEventSet {
        guard let value = fields.value("events") else { return .all }
        let allowed = "a list of names: \(ControlEventSet.names.joined(separator: ", "))"
        guard let elements = value.elements else { throw .notAllowed(field: "events", allowed: allowed) }
        var events: ControlEventSet = []
        for element in elements {
            guard let name = element.string,
                let place = ControlEventSet.names.firstIndex(where: { $0.utf8.elementsEqual(name.utf8) })
            else { throw .notAllowed(field: "events", allowed: allowed) }
            events.insert(ControlEventSet(place))
        }
        return events
    }

    private static func setting(_ fields: ControlFields) throws(ControlRequestError) -> SettingName {
        let path = try fields.text("key", "a setting, like audio.buffer")
        do throws(SettingError) {
            return try SettingName(path: path)
        } catch {
            throw .unknownSetting(error.description)
        }
    }
}
