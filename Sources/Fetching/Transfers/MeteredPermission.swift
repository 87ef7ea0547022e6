import Synchronization

/// Whether the offline engine may use a metered link (`offlineOverCellular`). Any thread.
package final class MeteredPermission: Sendable {
    private let value = Atomic(false)

    package init() {}

    package var isGiven: Bool {
        get { value.load(ordering: .relaxed) }
        set { value.store(newValue, ordering: .relaxed) }
    }
}
