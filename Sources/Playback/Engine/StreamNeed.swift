/// Reports whether a stream of the content service should be heard now, and when the user presses play. Offline copies,
/// local files and files on web servers do not count.
///
/// Thread: control.
package final class StreamNeed: PlaybackObserver {
    package enum Change: Equatable {
        case pressed
        case needed(Bool)
    }

    private let report: (Change) -> Void
    private var isNeeded = false

    package init(_ report: @escaping (Change) -> Void) { self.report = report }

    package func pressed() { report(.pressed) }

    package func didCarryOut(
        _ event: PlaybackStateMachine.Event, _ effects: [PlaybackStateMachine.Effect], _ before: PlaybackMoment,
        _ after: PlaybackMoment, now: @escaping () -> PlaybackMoment
    ) {
        look(after)
    }

    package func fetches(_ item: ItemID, _ fetch: FetchReport, _ moment: PlaybackMoment) { look(moment) }

    /// Examines the engine after an event, and after an item has turned out to be a stream.
    func look(_ moment: PlaybackMoment) {
        let needed = moment.wantsToPlay && moment.isStreamed
        guard needed != isNeeded else { return }
        isNeeded = needed
        report(.needed(needed))
    }
}
