import Platform
import Player

/// What the control socket says, besides what one request alone is answered with. `docs/control.md` documents it.
enum ReplyLines {
    typealias Member = JSONValue.Member

    /// The members of the status that an event tells, in the order of `RemoteEventSet.names`.
    private static let eventMembers = [
        ["state", "file", "position", "focus", "power", "network", "device"],
        ["entry", "index", "count", "file", "title", "artist", "album", "duration", "format", "device"],
        ["entry", "index", "count", "shuffle", "repeat"],
        ["volume", "maximumVolume", "muted"],
        ["entry", "file", "position", "duration"],
        [],
        ["problems"],
        [],
    ]

    // MARK: Lines

    static func reply(_ id: JSONValue, _ members: [Member]) -> [UInt8] {
        line([Member("id", id), Member("ok", true)] + members)
    }

    static func refusal(_ id: JSONValue, code: String, _ message: String) -> [UInt8] {
        line([
            Member("id", id), Member("ok", false),
            Member("error", ["code": .string(code), "message": .string(message)]),
        ])
    }

    /// - Parameter status: all of it.
    static func event(_ place: Int, _ status: [Member]) -> [UInt8] {
        let told = eventMembers[place].flatMap { name in status.filter { $0.name.utf8.elementsEqual(name.utf8) } }
        return event(place, with: told)
    }

    static func event(_ place: Int, with members: [Member]) -> [UInt8] {
        line([Member("event", .string(RemoteEventSet.names[place]))] + members)
    }

    private static func line(_ members: [Member]) -> [UInt8] {
        Array(JSONValue.object(members).serialized().utf8) + [UInt8(ascii: "\n")]
    }

    // MARK: What is told

    static func members(_ status: DaemonStatus) -> [Member] {
        let context = status.context
        return [
            Member("state", .string(name(status.playback))),
            Member("entry", JSONValue(status.entry.map { Int(clamping: $0.id.number) })),
            Member("index", JSONValue(status.index)),
            Member("count", JSONValue(status.count)),
            Member("file", JSONValue(status.entry?.product.productId)),
            Member("title", JSONValue(context?.title)),
            Member("artist", JSONValue(context?.artist)),
            Member("album", JSONValue(context?.album)),
            Member("position", JSONValue(seconds: status.entry == nil ? nil : status.position)),
            Member("duration", JSONValue(seconds: context?.duration)),
            Member("format", PlaybackJSON.format(context)),
            Member("device", PlaybackJSON.device(status.device)),
            Member("volume", JSONValue(status.volumePercent)),
            Member("maximumVolume", JSONValue(status.maximumVolumePercent)),
            Member("muted", .boolean(status.isMuted)),
            Member("shuffle", .boolean(status.isShuffled)),
            Member("repeat", .string(RemoteRequest.repeatNames[Int(status.repeatMode.rawValue)])),
            Member("focus", .string(RemoteRequest.focusNames[Int(status.focus.rawValue)])),
            Member("power", .string(name(status.power))),
            Member("network", JSONValue(status.network.map { name($0) })),
            Member(
                "problems",
                .array(
                    status.problems.map { problem in
                        ["subject": .string(problem.subject), "message": .string(problem.message)]
                    })),
        ]
    }

    static func members(failed entry: QueueEntry, _ error: PlayerError) -> [Member] {
        [
            Member("entry", .integer(Int64(entry.id.number))), Member("file", .string(entry.product.productId)),
            Member("code", .string(error.code)), Member("message", .string(error.message)),
        ]
    }

    static func settings(_ names: [SettingName], of configuration: Configuration) -> Member {
        Member(
            "settings",
            .array(
                names.map { name in
                    [
                        "key": .string(name.path), "value": .string(configuration.written(name)),
                        "origin": .string(configuration.originText(name)),
                        "needsRestart": .boolean(!name.setting.changesWhileRunning),
                    ]
                }))
    }

    private static func name(_ playback: DaemonStatus.Playback) -> String {
        switch playback {
        case .stopped: "stopped"
        case .paused: "paused"
        case .playing: "playing"
        case .stalled: "stalled"
        }
    }

    private static func name(_ power: PowerState) -> String {
        switch power {
        case .active: "active"
        case .resigning: "resigning"
        case .suspended: "suspended"
        case .regaining: "regaining"
        }
    }

    private static func name(_ network: NetworkState) -> String {
        switch network {
        case .offline: "offline"
        case .metered: "metered"
        case .online: "online"
        }
    }
}
