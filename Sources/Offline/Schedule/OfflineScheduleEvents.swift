import Platform
import Playback

extension OfflineSchedule {
    /// A change of the downloads or of their surroundings.
    enum Event {
        /// Downloads were added or resumed, or the engine has started.
        case downloadsChanged
        /// The answer to `find`: the downloads that are next.
        case found([QueuedDownload])
        /// The answer to `find` cannot be read.
        case notFound
        case progress(ServiceAddress, percent: Int)
        /// Whether a running download waits for a retry.
        case retryChanged(ServiceAddress, isWaiting: Bool)
        case ended(QueuedDownload, Outcome)
        case gateChanged(OfflineGate)
        /// The download was deleted or paused and must not run.
        case withdrawn(ServiceAddress)
        case allWithdrawn
        /// Room was freed.
        case spaceFreed
        /// The time of `waitForSpace` has passed.
        case spaceWaited
        /// The time of `rest` has passed.
        case rested(Int64)
        /// The time of `pace` has passed.
        case paced
        /// The downloads of the product, or all, rest no longer: another link is in use, or the user requested it.
        case hurried(ServiceAddress?)
        /// The state can be written again.
        case stateWritten
        /// A route has changed and may lead over another link. `gateChanged` follows.
        case routesChanged
        /// The time of `waitForWay` has passed.
        case wayWaited
    }

    /// How a run of a download has ended.
    enum Outcome: Equatable {
        case complete
        case failed(PlayerError)
        /// The run ended for a reason outside of the download, which is retried.
        case away(PlayerError)
        /// The download failed, and that cannot be stored.
        case notStored(PlayerError)
        /// The state cannot be written. Bytes that were not recorded are fetched again later.
        case noState
        /// The run was stopped on request; a later one continues.
        case stopped
        case noSpace
        /// Its route leads over a metered link.
        case metered

        var isAway: Bool { if case .away = self { true } else { false } }
    }

    /// An action that follows from an event.
    enum Effect: Equatable {
        /// Asks the database for the next downloads, at most `limit`.
        case find(limit: Int)
        case start(QueuedDownload)
        /// `ended` follows.
        case stop(ServiceAddress)
        case send(OfflineMessage)
        /// A download has no room: `spaceWaited` follows after some time.
        case waitForSpace
        /// A download may not use its route: `wayWaited` follows after some time. The answer depends on more than the
        /// routes, for example on the name server.
        case waitForWay
        /// `rested` follows for this download. Replaces an earlier timer of the download.
        case rest(Int64, nanoseconds: Int64)
        /// `paced` follows.
        case pace(nanoseconds: Int64)
        /// The state cannot be written: `stateWritten` follows when it can.
        case waitForState
    }
}
