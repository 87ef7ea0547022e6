import Fetching
import Media

/// The attempts to open the representations of a part: which of them cannot be used, and whether to try them again
/// (docs/playback.md, 15.11).
struct RepresentationAttempts {
    private struct Attempt {
        /// Whether the representation cannot be opened.
        var isExcluded = false
        /// The error of an excluded representation that cannot be reached at present; nil for the others.
        var failure: MediaError?
    }

    private let mayBeRenewed: Bool
    private var attempts: [Attempt]
    /// How long an address that cannot be reached is retried.
    private(set) var patience: Patience

    /// - Parameter mayBeRenewed: whether a new session may help when a part of the content is refused.
    init(count: Int, mayBeRenewed: Bool) {
        self.mayBeRenewed = mayBeRenewed
        attempts = [Attempt](repeating: Attempt(), count: count)
        patience = .first(of: count)
    }

    /// Whether each representation cannot be opened.
    var isExcluded: [Bool] { attempts.map { $0.isExcluded } }

    /// Excludes a representation. When none is left, those that could not be reached are tried again, with more
    /// patience.
    /// - Returns: whether another representation is to be tried.
    mutating func exclude(_ index: Int, _ error: MediaError) -> Bool {
        if error == .source(.cancelled) || mayBeRenewed && error.isWorthRestarting { return false }
        attempts[index] = Attempt(isExcluded: true, failure: error.isOfAddress ? error : nil)
        if attempts.allSatisfy({ $0.isExcluded }) {
            guard let next = patience.next(after: attempts.compactMap { $0.failure }) else { return false }
            patience = next
            for other in attempts.indices where attempts[other].failure != nil { attempts[other] = Attempt() }
        }
        return true
    }
}
