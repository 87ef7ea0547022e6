import Platform
import Player
import Queue

/// Publishes why the current entry is not heard: its medium is missing, the content service is away, or its data is
/// late (docs/decisions/watchdog.md). Waiting for a medium or a network is healthy, and is shown to clients.
///
/// Thread: the daemon's.
final class EntryProblems {
    /// Why the data of an entry is late.
    enum Delay: Equatable {
        case wait(WaitReason)
        /// The decoder has bytes and works on them.
        case decoding
    }

    /// How long data may be missing before that is a problem, in nanoseconds. A disk takes a few seconds to spin up.
    private static let patience: Int64 = 5_000_000_000

    private let loop: EventLoop
    private let report: (_ subject: String, _ message: String?) -> Void
    private var missing: String?
    /// The file of the entry whose medium is missing.
    private var missingFile: String?
    private var secondLook: TimerToken?
    private var away: String?
    private var slow: (subject: String, message: String)?
    /// The product whose data is late.
    private var late: QueuedProduct?
    private var timer: TimerToken?

    /// - Parameter report: called with `DaemonProblem.music` and with `DaemonProblem.service`, each with the problem or
    ///   nil, even if it has not changed.
    init(loop: EventLoop, report: @escaping (_ subject: String, _ message: String?) -> Void) {
        self.loop = loop
        self.report = report
    }

    /// The delay after a read error until the file is searched, in nanoseconds: the system needs a moment to notice
    /// that a stick was pulled out.
    private static let secondLookDelay: Int64 = 1_000_000_000

    /// - Parameters:
    ///   - message: nil when the medium is there or not needed.
    ///   - path: the entry's file.
    func mediumIsMissing(_ message: String?, of path: String? = nil) {
        loop.assertOnLoop()
        missing = message
        missingFile = path.map { SheetTrack.file(of: $0) }
        if let secondLook { loop.cancel(secondLook) }
        secondLook = nil
        if !nameMissingFile(), message != nil, path != nil {
            secondLook = loop.schedule(after: Self.secondLookDelay) { [self] in
                secondLook = nil
                if nameMissingFile() { update() }
            }
        }
        update()
    }

    /// Reports the file's medium as missing, if it is, whatever the read error was.
    /// - Returns: whether it is missing.
    private func nameMissingFile() -> Bool {
        guard missing != nil, let missingFile, FileKind(at: missingFile) == nil else { return false }
        missing = "\(missingFile): its medium is missing. Put it in again; playback goes on then."
        return true
    }

    /// - Parameter message: nil when the service is back or not needed.
    func serviceIsAway(_ message: String?) {
        loop.assertOnLoop()
        away = message
        update()
    }

    /// - Parameters:
    ///   - product: the product whose data is late; nil when data arrives.
    ///   - delay: returns why it is late; nil when the data is not the reason. Called repeatedly, because no event is
    ///     sent when the reason changes.
    func waits(_ product: QueuedProduct?, for delay: @escaping () -> Delay?) {
        loop.assertOnLoop()
        late = product
        guard product != nil else {
            stop()
            slow = nil
            return update()
        }
        if timer == nil { lookLater(delay) }
    }

    func stop() {
        if let timer { loop.cancel(timer) }
        timer = nil
    }

    private func lookLater(_ delay: @escaping () -> Delay?) {
        timer = loop.schedule(after: Self.patience) { [self] in
            slow = nil
            if let product = late, let reason = delay() {
                slow = (Self.subject(reason), Self.message(product.productId, reason))
            }
            update()
            lookLater(delay)
        }
    }

    private func update() {
        report(DaemonProblem.music, missing ?? message(DaemonProblem.music))
        report(DaemonProblem.service, away ?? message(DaemonProblem.service))
    }

    private func message(_ subject: String) -> String? {
        slow.flatMap { $0.subject.utf8.elementsEqual(subject.utf8) ? $0.message : nil }
    }

    static func subject(_ delay: Delay) -> String {
        switch delay {
        case .wait(.medium), .decoding: DaemonProblem.music
        case .wait(.link), .wait(.network), .wait(.service): DaemonProblem.service
        }
    }

    /// The message for the user.
    static func message(_ productId: String, _ delay: Delay) -> String {
        switch delay {
        case .wait(.medium) where ServiceAddress.isMeant(by: productId) || WebFileAddress.isMeant(by: productId):
            "\(productId): its data comes slowly. Playback goes on when it is there."
        case .wait(.medium):
            "\(productId): the medium is slow. Playback goes on when the data comes."
        case .wait(.link):
            "\(productId): there is no network. Playback goes on when there is one."
        case .wait(.network):
            "\(productId): the network has failed. It is retried, and playback goes on then."
        case .wait(.service) where WebFileAddress.isMeant(by: productId):
            "\(productId): the server fails, or asks to wait. It is retried, and playback goes on then."
        case .wait(.service):
            "\(productId): the content service fails, or asks to wait. It is retried, and playback goes on then."
        case .decoding:
            "\(productId): decoding takes long. The medium is not the reason."
        }
    }
}
