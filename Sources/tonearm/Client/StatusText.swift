import PCM
import Platform
import Player

/// The text of `tonearm status` for the user.
struct StatusText {
    private let status: JSONValue

    init(_ status: JSONValue) { self.status = status }

    var lines: [String] {
        var lines: [String] = []
        func add(_ name: String, _ value: String?) {
            guard let value, !value.isEmpty else { return }
            lines.append(name + String(repeating: " ", count: 10 - name.utf8.count) + DisplayText.visible(value))
        }
        add("state", state)
        add("title", title)
        add("artist", text("artist"))
        add("album", text("album"))
        add("position", Self.position(status))
        if isStream { add("buffered", status["buffered"]?.number.map { "\(Self.whole($0)) s" }) }
        add("waits for", wait)
        add("format", format)
        add("device", device)
        add("path", path)
        add("volume", volume)
        add("queue", queue)
        if isStream { add("link", text("link")) }
        if let level = text("focus"), level != "full" { add("focus", level) }
        if let power = text("power"), power != "active" { add("power", power) }
        for problem in status["problems"]?.elements ?? [] {
            add("problem", "\(problem["subject"]?.string ?? ""): \(problem["message"]?.string ?? "")")
        }
        return lines
    }

    /// Whether the entry is a product of the content service.
    private var isStream: Bool { text("file")?.utf8.starts(with: "tonearm:".utf8) ?? false }

    private var state: String? {
        text("state") == "stalled" ? "stalled: it resumes by itself" : text("state")
    }

    private var title: String? {
        text("title") ?? text("file").map(Self.name)
    }

    /// `the network, retried in 4 s`
    private var wait: String? {
        let seconds = status["wait"]?["seconds"]?.number.map { Self.whole($0.rounded(.up)) }
        let next = seconds.map { $0 > 0 ? ", retried in \($0) s" : ", retried now" } ?? ""
        switch status["wait"]?["for"]?.string {
        case "medium": return "the medium"
        case "link": return "a link to the network"
        case "network": return "the network" + next
        case "service": return "the service" + next
        default: return nil
        }
    }

    private static func whole(_ seconds: Double) -> Int { Int(max(0, min(seconds, 1e9))) }

    static func name(_ path: String) -> String {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        return slash.map { String(path[path.utf8.index(after: $0)...]) } ?? path
    }

    /// `0:12 / 3:05`
    private static func position(_ status: JSONValue) -> String? {
        guard let position = status["position"]?.number else { return nil }
        let duration = status["duration"]?.number.map { " / \(StatusLine.clock($0))" } ?? ""
        return StatusLine.clock(position) + duration
    }

    private var format: String? {
        guard let format = status["format"], !format.isNull else { return nil }
        return [
            format["codec"]?.string, format["sampleRate"]?.integer.map { "\($0) Hz" },
            format["bitDepth"]?.integer.map { "\($0) bit" }, isStream ? format["quality"]?.string : nil,
            format["convertedSampleRate"]?.integer.map { "converted to \($0) Hz" },
        ].compactMap { $0 }.joined(separator: ", ")
    }

    private var device: String? {
        guard let device = status["device"], let name = device["name"]?.string else { return nil }
        let details = [
            device["sampleFormat"]?.string, device["sampleRate"]?.integer.map { "\($0) Hz" },
            device["channels"]?.integer.map { ChannelName.of(Int(clamping: $0)) }, Self.adaptation(of: device),
        ]
        return ([name] + details.compactMap { $0 }).joined(separator: ", ")
    }

    /// `mono on both channels`
    private static func adaptation(of device: JSONValue) -> String? {
        guard let channels = device["channels"]?.integer, let source = device["adaptation"]?["channels"]?.integer
        else { return nil }
        let routing = device["adaptation"]?["routing"]?.string.flatMap { ChannelRouting(named: $0) }
        let adaptation = ChannelAdaptation(
            from: Int(clamping: source), to: Int(clamping: channels), routing: routing ?? .straight)
        if adaptation == nil, source == channels { return ChannelAdaptation.inDeviceOrder(Int(clamping: channels)) }
        return adaptation?.description
    }

    /// `bit-perfect`, or the changes to the samples: `rate converted, volume scaled`
    private var path: String? {
        SignalPath(status: status["path"]).map { path in
            path.note.map { "\(path.description): \($0)" } ?? path.description
        }
    }

    private var volume: String? {
        guard let percent = status["volume"]?.integer else { return nil }
        var text = "\(percent) %"
        if let maximum = status["maximumVolume"]?.integer, maximum < 100 { text += " of at most \(maximum) %" }
        return status["muted"]?.boolean == true ? text + ", muted" : text
    }

    private var queue: String? {
        guard let count = status["count"]?.integer else { return nil }
        if count == 0 { return "empty" }
        var text = status["index"]?.integer.map { "\($0 &+ 1) of \(count)" } ?? "\(count), none is current"
        if status["shuffle"]?.boolean == true { text += ", shuffled" }
        if let mode = self.text("repeat"), mode != "off" { text += ", repeat \(mode)" }
        return text
    }

    private func text(_ name: String) -> String? { status[name]?.string }
}
