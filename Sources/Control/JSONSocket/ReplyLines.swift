import Appliance
import Events
import Network
import Output
import Platform
import Player
import Queue

/// Replies and events as lines of JSON. `docs/control.md` documents them.
enum ReplyLines {
    typealias Member = JSONValue.Member

    /// The most bytes of the entries of a page. With this limit, a reply with the longest id is no longer than a
    /// request may be.
    static let pageBytes = 56 << 10
    /// The lengths in bytes to which the texts of a line are cut in turn, until the line fits.
    private static let textLimits = [1024, 256, 64]

    /// The members of the status in an event, in the order of `RemoteEventSet.names`.
    private static let eventMembers = [
        ["state", "file", "position", "focus", "power", "network", "link", "device", "path"],
        ["entry", "index", "count", "file", "title", "artist", "album", "duration", "format", "device", "path"],
        ["entry", "index", "count", "shuffle", "repeat"],
        ["volume", "maximumVolume", "muted", "path"],
        ["entry", "file", "position", "duration"],
        [],
        ["problems"],
        [],
        [],
        [],
        [],
    ]

    // MARK: Lines

    /// - Parameters:
    ///   - id: the id of the request; nil leaves it out.
    ///   - notice: the notice for a request in an old form.
    static func reply(_ id: JSONValue?, _ reply: RemoteReply, notice: String? = nil) -> [UInt8] {
        let notice = notice.map { [Member("notice", .string($0))] } ?? []
        return line(answer(id, isOK: true) + members(reply) + notice)
    }

    /// - Parameter id: the id of the request; nil leaves it out.
    static func refusal(_ id: JSONValue?, code: String, _ message: String) -> [UInt8] {
        line(answer(id, isOK: false) + [Member("error", ["code": .string(code), "message": .string(message)])])
    }

    private static func answer(_ id: JSONValue?, isOK: Bool) -> [Member] {
        (id.map { [Member("id", $0)] } ?? []) + [Member("ok", .boolean(isOK))]
    }

    static func event(_ event: RemoteEvent) -> [UInt8] {
        let members: [Member]
        switch event {
        case .status(let kind, let status):
            let all = self.members(status)
            members = eventMembers[kind.index].flatMap { name in all.filter { $0.name.utf8.elementsEqual(name.utf8) } }
        case .configuration(let settings): members = [self.settings(settings)]
        case .failed(let entry, let error): members = self.members(failed: entry, error)
        case .offline(let message): members = DownloadJSON.members(message)
        case .library(let status): members = LibraryJSON.members(status)
        case .playlists(let name): members = [Member("name", .string(name))]
        }
        return line([Member("event", .string(RemoteEventSet.names[event.kind.index]))] + members)
    }

    /// Makes a line. Cuts long texts, such as tags or names in a message, so that no line is longer than a request may
    /// be.
    private static func line(_ members: [Member]) -> [UInt8] {
        var members = members
        for limit in textLimits where JSONValue.object(members).serializedLengthLimit > LineConnection.lineLimit {
            for index in members.indices where !isKey(members[index]) {
                members[index].value = members[index].value.cuttingTexts(to: limit)
            }
        }
        return Array(JSONValue.object(members).serialized().utf8) + [UInt8(ascii: "\n")]
    }

    /// Returns whether the value is never cut, because clients send it back or compare it. Other code limits its
    /// length.
    private static func isKey(_ member: Member) -> Bool {
        ["id", "next"].contains { $0.utf8.elementsEqual(member.name.utf8) }
    }

    // MARK: Members

    private static func members(_ reply: RemoteReply) -> [Member] {
        switch reply {
        case .done: []
        case .status(let status): members(status)
        case .version(let version): [Member("version", .string(version)), Member("protocol", 1)]
        case .volume(let percent, let isMuted):
            [Member("volume", JSONValue(percent)), Member("muted", .boolean(isMuted))]
        case .shuffle(let isOn): [Member("shuffle", .boolean(isOn))]
        case .page(let page): members(page)
        case .added(let music):
            [
                Member("entry", entry(music.first)),
                Member("added", JSONValue(music.count)), Member("skipped", JSONValue(music.skipped)),
            ]
        case .collected(let count, let skipped):
            [Member("collected", JSONValue(count)), Member("skipped", JSONValue(skipped))]
        case .removed(let count): [Member("removed", JSONValue(count))]
        case .settings(let settings): [self.settings(settings)]
        case .settingChanged(let inForce): [Member("inForce", .boolean(inForce))]
        case .download(let reply): DownloadJSON.members(reply)
        case .events(let status): members(status)
        case .serviceLogin(let status): ServiceLoginJSON.members(status)
        case .wifi(let status): WiFiJSON.members(status)
        case .update(let status): UpdateJSON.members(status)
        case .machine(let status): MachineJSON.members(status)
        case .devices(let cards): [Member("cards", .array(cards.map { DeviceJSON.value(of: $0) }))]
        case .known(let known): LoudnessJSON.members(known)
        case .library(let reply): LibraryJSON.members(reply)
        case .playlist(let reply): PlaylistJSON.members(reply)
        }
    }

    private static func members(_ status: EventStatus?) -> [Member] {
        guard let status else { return [Member("recorded", .array([]))] }
        let names: [(EventCategory, String)] = [(.playLog, "play-log"), (.statistics, "statistics")]
        return [
            Member("recorded", .array(names.filter { status.consent.contains($0.0) }.map { .string($0.1) })),
            Member("waiting", .integer(status.waiting)), Member("sent", .integer(status.sent)),
            Member("refused", .integer(status.refused)), Member("dropped", .integer(status.dropped)),
            Member("bytes", .integer(status.bytes)),
        ]
    }

    static func members(_ status: DaemonStatus) -> [Member] {
        let context = status.context
        return [
            Member("state", .string(name(status.playback))),
            Member("entry", entry(status.entry?.id)),
            Member("index", JSONValue(status.index)),
            Member("count", JSONValue(status.count)),
            Member("file", JSONValue(status.entry?.product.productId)),
            Member("title", JSONValue(context?.title)),
            Member("artist", JSONValue(context?.artist)),
            Member("album", JSONValue(context?.album)),
            Member("position", JSONValue(seconds: status.entry == nil ? nil : status.position)),
            Member("duration", JSONValue(seconds: context?.duration)),
            Member("buffered", JSONValue(seconds: status.buffered)),
            Member("wait", wait(status.wait)),
            Member("format", PlaybackJSON.format(context)),
            Member("device", PlaybackJSON.device(status.device)),
            Member("path", PlaybackJSON.path(status.path)),
            Member("volume", JSONValue(status.volumePercent)),
            Member("maximumVolume", JSONValue(status.maximumVolumePercent)),
            Member("muted", .boolean(status.isMuted)),
            Member("shuffle", .boolean(status.isShuffled)),
            Member("repeat", .string(RemoteRequest.repeatNames[Int(status.repeatMode.rawValue)])),
            Member("focus", .string(RemoteRequest.focusNames[Int(status.focus.rawValue)])),
            Member("power", .string(name(status.power))),
            Member("network", JSONValue(status.link.map { name($0) })),
            Member("link", JSONValue(status.link.map { kind($0) })),
            Member(
                "problems",
                .array(
                    status.problems.map { problem in
                        ["subject": .string(problem.subject), "message": .string(problem.message)]
                    })),
        ]
    }

    /// Returns as many entries as fit into a line, at least one.
    private static func members(_ page: RemoteReply.QueuePage) -> [Member] {
        var bytes = 0
        var entries: [JSONValue] = []
        for entry in page.entries {
            let value: JSONValue = [
                "entry": .integer(Int64(entry.id.number)), "file": .string(entry.product.productId),
                "current": .boolean(entry.id == page.current),
            ]
            bytes += value.serializedLengthLimit + 1
            if bytes > pageBytes, !entries.isEmpty { break }
            entries.append(value)
        }
        return [
            Member("count", JSONValue(page.count)), Member("from", JSONValue(page.start)),
            Member("entries", .array(entries)),
        ]
    }

    private static func members(failed entry: QueueEntry, _ error: PlayerError) -> [Member] {
        [
            Member("entry", .integer(Int64(entry.id.number))), Member("file", .string(entry.product.productId)),
            Member("code", .string(error.code)), Member("message", .string(error.message)),
        ]
    }

    private static func settings(_ settings: [RemoteReply.SettingReport]) -> Member {
        Member(
            "settings",
            .array(
                settings.map { setting in
                    [
                        "key": .string(setting.name.path), "value": .string(setting.value),
                        "origin": .string(setting.origin), "needsRestart": .boolean(setting.needsRestart),
                        "access": .string(setting.access.rawValue),
                    ]
                }))
    }

    // Uses Int64, because an id is up to 2^32 and Int has 32 bits on ARMv7.
    private static func entry(_ id: EntryID?) -> JSONValue { id.map { .integer(Int64($0.number)) } ?? .null }

    private static func wait(_ wait: WaitReason?) -> JSONValue {
        let (reason, seconds): (String, Double?)
        switch wait {
        case nil: return .null
        case .medium: (reason, seconds) = ("medium", nil)
        case .link: (reason, seconds) = ("link", nil)
        case .network(let rest): (reason, seconds) = ("network", rest)
        case .service(let rest): (reason, seconds) = ("service", rest)
        }
        return ["for": .string(reason), "seconds": JSONValue(seconds: seconds)]
    }

    private static func name(_ playback: QueuePlayback) -> String {
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

    private static func kind(_ link: Link) -> String {
        switch link.kind {
        case .offline: "offline"
        case .ethernet: "ethernet"
        case .wifi: "wifi"
        case .cellular: "cellular"
        }
    }

    private static func name(_ link: Link) -> String {
        switch link.kind {
        case .offline: "offline"
        case .cellular: "metered"
        case .ethernet, .wifi: "online"
        }
    }
}
