import Foundation
import TestSupport

@testable import Playback
@testable import Player

/// The messages of a player's bus in their order, also in a form that reads well in a list:
///
///     "- > a"           a transition from nothing to the product with the reference "a"
///     "PLAYING"         a state
///     "error m3 (a)"    an error with its code and product
///     "quality 96000/24"
// @unchecked: `condition` guards the mutable state.
package final class MessageLog: @unchecked Sendable {
    private let condition = NSCondition()
    /// Guarded by `condition`.
    private var received: [PlaybackMessage] = []

    package init() {}

    package func append(_ message: PlaybackMessage) {
        condition.withLock {
            received.append(message)
            condition.broadcast()
        }
    }

    package var messages: [PlaybackMessage] { condition.withLock { received } }
    package var lines: [String] { messages.map(\.line) }

    /// Waits until `isTrue` of all messages so far.
    @discardableResult
    package func wait(
        _ what: String, file: StaticString = #filePath, line: UInt = #line, until isTrue: ([PlaybackMessage]) -> Bool
    ) throws -> [PlaybackMessage] {
        condition.lock()
        defer { condition.unlock() }
        let limit = Deadline().date
        while !isTrue(received) {
            guard condition.wait(until: limit) else { throw WaitedInVain(what, received.map(\.line), file, line) }
        }
        return received
    }
}

extension PlaybackMessage {
    package var isState: Bool { if case .playbackStateChanged = self { true } else { false } }
    package var isTransition: Bool { if case .mediaProductTransition = self { true } else { false } }

    /// The context of a transition or a change of quality.
    package var context: PlaybackContext? {
        switch self {
        case .mediaProductTransition(let transition): transition.context
        case .playbackQualityChanged(let context): context
        default: nil
        }
    }

    package var error: PlayerError? { if case .error(let error) = self { error } else { nil } }

    package var line: String {
        switch self {
        case .error(let error): "error \(error.code) (\(error.mediaProduct?.referenceId ?? "-"))"
        case .mediaProductTransition(let transition):
            "\(transition.previous?.referenceId ?? "-") > \(transition.active?.referenceId ?? "-")"
        case .playbackStateChanged(.idle): "IDLE"
        case .playbackStateChanged(.playing): "PLAYING"
        case .playbackStateChanged(.notPlaying): "NOT_PLAYING"
        case .playbackStateChanged(.stalled): "STALLED"
        case .playbackQualityChanged(let context):
            "quality \(context.audioSampleRate ?? 0)/\(context.audioBitDepth ?? 0)"
        case .streamingPrivilegesRevoked(let device): "revoked by \(device ?? "-")"
        }
    }
}
