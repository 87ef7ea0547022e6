import Platform

/// The purpose of an event. A user may refuse the events of a category.
public enum EventCategory: Int, Equatable, Sendable, CaseIterable {
    /// The play log and the progress: what was heard, and for how long.
    case playLog = 0
    /// Statistics of streaming and downloading: starts, stalls, errors.
    case statistics = 1
}

/// An event about playing or downloading a product of a content service (docs/playback.md,
/// 19; docs/decisions/events.md).
public struct PlayerEvent: Equatable, Sendable {
    /// Unique, so that a receiver recognises an event that it gets twice.
    public var id: String
    /// For example `playback_session`.
    public var name: String
    public var category: EventCategory
    /// The group of the name: `streaming_metrics`, `play_log` or `playback`.
    public var group: String
    /// The version of the payload.
    public var version: Int
    /// The time at which the event happened, in milliseconds since 1970, UTC.
    public var time: Int64
    /// Whether `time` is only the earliest possible one, because the clock was not proved since the system's start.
    public var isTimeEstimated: Bool
    /// The start of the system to which all times refer; nil when they are proved, or cannot be corrected.
    package var systemStart: SystemStart?
    public var payload: JSONValue
    /// Further attributes of the request for the product.
    public var extras: [String: String]

    public init(
        id: String, name: String, category: EventCategory, group: String, version: Int, time: Int64,
        isTimeEstimated: Bool, payload: JSONValue, extras: [String: String]
    ) {
        self.id = id
        self.name = name
        self.category = category
        self.group = group
        self.version = version
        self.time = time
        self.isTimeEstimated = isTimeEstimated
        self.payload = payload
        self.extras = extras
    }
}

/// Receives the player's events. An integrator may bring one; without one they go to the service through the outbox.
///
///     final class EventLog: EventSender {
///         func send(_ event: PlayerEvent) { print(event.name, event.payload.serialized()) }
///     }
public protocol EventSender: AnyObject, Sendable {
    /// Takes an event. Events of one session arrive in their order. Called on the control thread; it must not block.
    func send(_ event: PlayerEvent)
}
