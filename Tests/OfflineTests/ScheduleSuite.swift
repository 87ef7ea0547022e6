import Network
import Platform

@testable import Offline
@testable import Playback
@testable import Player

/// Fixtures of the suites about the schedule of downloads.
protocol ScheduleSuite {}

extension ScheduleSuite {
    static func download(_ number: Int64) -> QueuedDownload {
        QueuedDownload(
            number: number, product: ServiceAddress(.track, "\(number)"), referenceId: "r\(number)",
            request: OfflineRequest(audioQuality: .lossless, videoQuality: .high), priority: 0)
    }

    static var open: OfflineGate { OfflineGate(link: .ethernet) }

    /// A schedule that may use the network and has found these downloads.
    static func started(_ downloads: [QueuedDownload], limit: Int = 3) -> OfflineSchedule {
        var schedule = OfflineSchedule(limit: limit)
        _ = schedule.handle(.gateChanged(open))
        _ = schedule.handle(.found(downloads))
        return schedule
    }
}
