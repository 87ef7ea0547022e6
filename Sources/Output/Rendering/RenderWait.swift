import Platform

extension RenderLoop {
    /// The event that ends a wait before the next step. A command always ends the wait.
    enum Wait: Equatable {
        /// Waits for a command only.
        case command
        /// Waits for room in the device.
        case device(milliseconds: Int32)
        /// Waits for a time.
        case time(milliseconds: Int32)
    }

    /// Carries out the wait that `step` returned.
    func wait(_ wait: Wait, wakeUp: WakeUp) {
        switch wait {
        case .command:
            if wakeUp.wait(milliseconds: -1) { wakeUp.clear() }
        case .time(let milliseconds):
            if wakeUp.wait(milliseconds: milliseconds) { wakeUp.clear() }
        case .device(let milliseconds):
            guard let device = slot.sink?.device else { return }
            do throws(DeviceFault) {
                if try device.wait(wakeUp: wakeUp.descriptor, milliseconds: milliseconds) { wakeUp.clear() }
            } catch {
                recover(from: error)
            }
        }
    }
}

/// How long the audio thread sleeps before it checks an empty ring again: a little longer each time.
struct BackOff {
    /// The longest sleep, in milliseconds.
    static let longest: Int32 = 50
    private var milliseconds: Int32 = 1

    /// The next sleep in milliseconds: at most half of the audio that the device still has.
    mutating func next(unheardMilliseconds: Int64) -> Int32 {
        defer { milliseconds = min(milliseconds * 2, Self.longest) }
        guard unheardMilliseconds > 0 else { return milliseconds }
        return min(milliseconds, max(1, Int32(clamping: unheardMilliseconds / 2)))
    }
}
