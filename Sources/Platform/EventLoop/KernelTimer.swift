import CLinux

/// The timerfd that wakes the loop for its next timer. It owns the descriptor.
struct KernelTimer: ~Copyable {
    /// -1 when a test drives the clock.
    let descriptor: Int32
    /// The deadline of the timerfd; nil when it is disarmed.
    private var armedDeadline: Int64?

    init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// - Parameter next: the next deadline in nanoseconds; nil for none.
    mutating func arm(for next: Int64?) {
        guard descriptor >= 0, next != armedDeadline else { return }
        armedDeadline = next
        var setting = itimerspec()
        if let next {
            // A deadline of 0 would disarm the timer.
            let deadline = max(next, 1)
            setting.it_value.tv_sec = time_t(deadline / 1_000_000_000)
            setting.it_value.tv_nsec = Int(deadline % 1_000_000_000)
        }
        let result = timerfd_settime(descriptor, Int32(TFD_TIMER_ABSTIME), &setting, nil)
        precondition(result == 0, "timerfd_settime")
    }

    /// Notes that the timer has fired: the next `arm` sets it again, or disarms it.
    mutating func fired() { armedDeadline = -1 }

    /// Nanoseconds until the kernel wakes the loop for a timer; 0 when it will not.
    var armedNanoseconds: Int64 {
        var setting = itimerspec()
        timerfd_gettime(descriptor, &setting)
        return Int64(setting.it_value.tv_sec) * 1_000_000_000 + Int64(setting.it_value.tv_nsec)
    }
}
