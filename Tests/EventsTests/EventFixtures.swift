import Platform
import Synchronization
@testable import Events

extension EventDevice {
    static let board = EventDevice(
        hardwarePlatform: "aarch64", operatingSystem: "Linux", operatingSystemVersion: "6.1", client: "player",
        version: "1.0")
}

extension EventTime {
    /// A time in seconds after a fixed moment.
    static func at(_ seconds: Double) -> EventTime {
        EventTime(milliseconds: 1_790_000_000_000 + Int64(seconds * 1000))
    }
}

/// Gives `id-1`, `id-2`…
final class CountedIDs: Sendable {
    private let count = Atomic<Int>(0)

    func next() -> String { "id-\(count.add(1, ordering: .relaxed).newValue)" }
}

/// One session as a list of facts at times in seconds, and its events.
struct ToldSession {
    var start: SessionStart
    var facts: [SessionFact] = []

    init(_ reason: SessionStart.Reason = .explicit, kind: SessionStart.Kind = .playback, extras: [String: String] = [:])
    {
        start = SessionStart(
            id: "session", time: .at(0), kind: kind, reason: reason, productId: "7",
            source: EventSource(type: "ALBUM", id: "3"), extras: extras, link: .ethernet)
    }

    func adding(_ seconds: Double, _ kind: SessionFact.Kind) -> ToldSession {
        var copy = self
        copy.facts.append(SessionFact(.at(seconds), kind))
        return copy
    }

    func fetched(_ end: SessionEnd = .complete) -> ToldSession {
        adding(1, .fetched(SessionFetch(.playbackInfo, milliseconds: 1_000, end)))
    }

    /// Fetched, opened, asked to play at 2 s, and heard from 3 s on.
    func playing(at position: Double = 0, duration: Double? = 60) -> ToldSession {
        fetched().opened(duration: duration).adding(2, .requested).adding(3, .started(position: position))
    }

    func opened(duration: Double? = 60) -> ToldSession {
        adding(1, .opened(SessionContent(productId: "8", audioMode: "STEREO", quality: "LOSSLESS", duration: duration)))
    }

    /// - Parameter count: only the first facts.
    func events(_ count: Int? = nil) -> [PlayerEvent] {
        let ids = CountedIDs()
        var session = SessionEvents(start, .board, newID: { ids.next() })
        var events = session.begin()
        for fact in facts.prefix(count ?? facts.count) { events += session.add(fact) }
        return events
    }

    /// The payload of the only event with this name; nil without one.
    func payload(_ name: String) -> JSONValue? {
        let found = events().filter { $0.name == name }
        return found.count == 1 ? found[0].payload : nil
    }

    /// The actions of the play log: `STOP@2`.
    var actions: [String]? {
        payload("playback_session")?["actions"]?.elements?.map {
            let name = $0["actionType"]?.string == "PLAYBACK_START" ? "START" : "STOP"
            return "\(name)@\($0["assetPosition"]?.number ?? -1)"
        }
    }

    /// The stalls of the statistics: `SEEK@4:5-7`, in seconds after the beginning.
    var stalls: [String]? {
        payload("playback_statistics")?["stalls"]?.elements?.map {
            let began = ($0["startTimestamp"]?.integer ?? 0) - EventTime.at(0).milliseconds
            let ended = ($0["endTimestamp"]?.integer ?? 0) - EventTime.at(0).milliseconds
            return "\($0["reason"]?.string ?? "?")@\($0["assetPosition"]?.number ?? -1):\(began / 1000)-\(ended / 1000)"
        }
    }
}
