/// Reports whether a stream of the content service should be heard now, and when the user presses play. Offline copies,
/// local files and files of the web are no streams of the service.
///
/// Thread: control.
package final class StreamNeed {
    package enum Change: Equatable {
        case pressed
        case needed(Bool)
    }

    private let report: (Change) -> Void
    private var isNeeded = false

    package init(_ report: @escaping (Change) -> Void) { self.report = report }

    /// The user has pressed play.
    func press() { report(.pressed) }

    /// Looks at the engine after an event, and after an item has turned out to be a stream.
    func look(_ moment: PlaybackMoment) {
        let needed = moment.wantsToPlay && moment.isStreamed
        guard needed != isNeeded else { return }
        isNeeded = needed
        report(.needed(needed))
    }
}
