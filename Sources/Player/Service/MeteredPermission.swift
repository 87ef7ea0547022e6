import Synchronization

/// Whether the offline engine may use a metered link (`offlineOverCellular`). Any thread.
final class MeteredPermission: Sendable {
    private let value = Atomic(false)

    var isGiven: Bool {
        get { value.load(ordering: .relaxed) }
        set { value.store(newValue, ordering: .relaxed) }
    }
}
