/// Asks a listener before the device is reopened, and calls it when the device runs again.
///
/// Thread: control.
final class ReopeningListener {
    private var listener: ((DeviceReopening) -> Void)?
    /// Whether the listener was asked, and waits until the device runs.
    private var isReopening = false

    func set(_ listener: ((DeviceReopening) -> Void)?) { self.listener = listener }

    /// - Parameter proceed: reopens the device.
    func ask(proceed: @escaping @Sendable () -> Void) {
        isReopening = true
        listener?(.asked(proceed: proceed))
    }

    func deviceRuns() {
        guard isReopening else { return }
        isReopening = false
        listener?(.started)
    }
}
