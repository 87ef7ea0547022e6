import Library
import Queue

/// Why a request that was understood could not be carried out. Nothing has changed.
package struct RemoteFailure: Error, Equatable {
    /// The reason for programs; `docs/control.md` lists the reasons.
    package enum Reason: String, CaseIterable {
        case emptyQueue = "empty-queue"
        case nothingCurrent = "nothing-current"
        case noSuchEntry = "no-such-entry"
        case queueFull = "queue-full"
        case noSuchPlaylist = "no-such-playlist"
        case playlistExists = "playlist-exists"
        case listFull = "list-full"
        case noSuchFile = "no-such-file"
        case noMusic = "no-music"
        case badSetting = "bad-setting"
        case badRequest = "bad-request"
        case noService = "no-service"
        case noWiFi = "no-wifi"
        case noUpdates = "no-updates"
        case updateRuns = "update-runs"
        case notOfService = "not-of-service"
        case guest
        case system
    }

    package let reason: Reason
    /// The message for the user.
    package let message: String

    init(_ reason: Reason, _ message: String) {
        self.reason = reason
        self.message = message
    }

    init(_ error: PlayQueueError) {
        let reason: Reason =
            switch error {
            case .noSuchEntry: .noSuchEntry
            case .full, .idsTooLong: .queueFull
            case .productIdTooLong: .badRequest
            }
        self.init(reason, error.description)
    }

    init(_ failure: PlaylistFailure) {
        let reason: Reason =
            switch failure {
            case .noSuchPlaylist: .noSuchPlaylist
            case .exists: .playlistExists
            case .badName: .badRequest
            case .badEntry: .noMusic
            case .noSuchEntry: .noSuchEntry
            case .full: .listFull
            case .system: .system
            }
        self.init(reason, failure.description)
    }

    /// The failure of requests that are not answered before the daemon ends.
    package static let ending = RemoteFailure(.system, "the daemon ends: ask again when it runs")

    /// The failure of requests that need more rights (`ClientRights`).
    package static let guest = RemoteFailure(.guest, "guests may use the music alone")

    static func downloadsFull(limit: Int) -> RemoteFailure {
        RemoteFailure(
            .queueFull,
            "the queue of downloads is full (\(limit)): wait until some are complete, or remove some")
    }

    static func noSuchIndex(_ index: Int, of count: Int) -> RemoteFailure {
        RemoteFailure(.noSuchEntry, "no entry at index \(index): there are \(count)")
    }
}
