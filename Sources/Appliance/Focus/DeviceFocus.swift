import Queue

/// Opens and closes the sound device for the queue as focus and power allow.
///
/// Thread: the daemon's.
public final class DeviceFocus {
    private let queue: QueueConductor
    private let changed: () -> Void
    private var holders = FocusHolders()
    private var session = FocusSession()
    private var lastHolder: UInt64 = 0

    /// - Parameter changed: called when focus or power has changed.
    init(_ queue: QueueConductor, changed: @escaping () -> Void) {
        self.queue = queue
        self.changed = changed
    }

    public var level: FocusLevel { session.focus }
    public var power: PowerState { session.power }

    /// Takes the device for the first time.
    func begin() { carryOut(session.begin()) }

    /// Sets the focus until it is set again.
    public func set(_ level: FocusLevel) {
        holders.lasting = level
        holdersChanged()
    }

    /// Returns the number of a new holder, for a client of any server.
    package func newHolder() -> UInt64 {
        lastHolder += 1
        return lastHolder
    }

    /// Sets the focus until the holder releases it.
    public func hold(_ level: FocusLevel, by holder: UInt64) {
        holders.hold(level, by: holder)
        holdersChanged()
    }

    func isHeld(by holder: UInt64) -> Bool { holders.isHeld(by: holder) }

    /// Removes the level of the holder. Does nothing when there is none.
    public func release(by holder: UInt64) {
        holders.release(by: holder)
        holdersChanged()
    }

    public func setPower(_ state: PowerState) {
        guard state != session.power else { return }
        carryOut(session.handle(.power(state)))
        changed()
    }

    /// Calls `action` on the daemon's loop once the player has carried out all earlier requests. If the focus was taken
    /// away, the device is free then, and other programs can open it.
    public func whenCarriedOut(_ action: @escaping @Sendable () -> Void) { queue.whenCarriedOut(action) }

    private func holdersChanged() {
        guard holders.level != session.focus else { return }
        carryOut(session.handle(.focus(holders.level)))
        changed()
    }

    private func carryOut(_ effects: [FocusSession.Effect]) {
        for effect in effects {
            switch effect {
            case .openDevice:
                queue.regain()
                carryOut(session.handle(.started))
            case .closeDevice:
                queue.release()
            }
        }
    }
}
