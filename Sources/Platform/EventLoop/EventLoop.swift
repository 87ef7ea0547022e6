import CLinux
import Synchronization

/// Runs the work of one thread in turn: posted work, timers, descriptors and signals. Sleeps in epoll(7) until there is
/// work; an idle loop never wakes.
///
///     let loop = try EventLoop()
///     loop.schedule(after: 1_000_000_000) { loop.stop() }
///     loop.post { print("posted by any thread, run by the thread of the loop") }
///     loop.run()
///
/// Thread: the loop belongs to the thread that created it, until `run` binds it to its caller. Only `post`, `stop`,
/// `clockAdvanced` and `isCurrentThread` are for any thread.
/// `@unchecked Sendable` is safe because a lock guards the posted work. Only the loop's thread uses the rest, which
/// debug builds assert.
public final class EventLoop: @unchecked Sendable {
    private let clock: any MonotonicClock
    private let thread: Atomic<UInt>
    private var isRunning = false

    private let posted: PostedWork
    private var timers = TimerQueue()
    private var kernelTimer: KernelTimer
    private var watches: WatchedDescriptors
    private static let wakeUpRegistration: UInt64 = 0
    private static let timerRegistration: UInt64 = 1
    private var signalDescriptors: [Int32] = []

    /// How often `run` has returned from waiting.
    var wakeUpCount: Int { watches.waitCount }
    /// How many timers have run.
    var timerCount: Int { timers.takenCount }
    #if DEBUG
        private var spinning = SpinDetector()
        /// Called when a timer schedules itself repeatedly without a delay. It traps, except in a test.
        var hasSpun: () -> Void = {
            preconditionFailure("EventLoop: a timer schedules itself without a delay, again and again")
        }
    #endif

    /// Makes a loop whose timers follow CLOCK_MONOTONIC.
    /// - Throws: when the process or the system has no file descriptor left.
    public convenience init() throws(SystemError) {
        let timer = timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC | TFD_NONBLOCK))
        guard timer >= 0 else { throw .last("timerfd_create") }
        try self.init(clock: SystemMonotonicClock(), timerDescriptor: timer)
    }

    /// Makes a loop whose timers follow `clock`, which a test drives; the test then calls `clockAdvanced`.
    /// - Throws: when the process or the system has no file descriptor left.
    public convenience init(drivenBy clock: any MonotonicClock) throws(SystemError) {
        try self.init(clock: clock, timerDescriptor: -1)
    }

    private init(clock: any MonotonicClock, timerDescriptor: Int32) throws(SystemError) {
        self.clock = clock
        kernelTimer = KernelTimer(descriptor: timerDescriptor)
        thread = Atomic(UInt(pthread_self()))
        posted = try PostedWork()
        watches = try WatchedDescriptors()
        try watches.add(posted.descriptor, registration: Self.wakeUpRegistration)
        if timerDescriptor >= 0 { try watches.add(timerDescriptor, registration: Self.timerRegistration) }
    }

    deinit {
        for descriptor in signalDescriptors { close(descriptor) }
    }

    // MARK: Running

    /// Runs on the calling thread until `stop`. May be called again afterwards.
    public func run() {
        precondition(!isRunning, "EventLoop.run: already running")
        thread.store(UInt(pthread_self()), ordering: .relaxed)
        isRunning = true
        defer { isRunning = false }
        repeat {
            kernelTimer.arm(for: timers.nextDeadline)
            waitAndDispatch()
            runDueTimers()
            #if DEBUG
                if spinning.endTurn() { hasSpun() }
            #endif
        } while runPosted()
    }

    /// Makes `run` return once all earlier posted work has run; later posted work waits for the next `run`. Any thread.
    public func stop() { posted.add(.stop) }

    /// Whether the calling thread is the loop's. Any thread.
    public var isCurrentThread: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

    /// Traps when called on any thread except the loop's.
    public func assertOnLoop() {
        precondition(isCurrentThread, "this belongs to the event loop's thread")
    }

    // MARK: Posted work

    /// Runs `work` on the loop's thread, strictly after all earlier posted work. Any thread except the audio thread (it
    /// allocates and locks; see `WakeUp`).
    public func post(_ work: @escaping @Sendable () -> Void) { posted.add(.call(work)) }

    /// Runs the work that was posted so far. Work that it posts waits until descriptors and timers had their turn.
    /// - Returns: false after a stop.
    private func runPosted() -> Bool {
        let batch = posted.take()
        #if DEBUG
            if !batch.isEmpty { spinning.hadOtherWork() }
        #endif
        for index in batch.indices {
            switch batch[index] {
            case .call(let work): work()
            case .stop:
                posted.putBack(batch[(index + 1)...])
                return false
            }
        }
        return true
    }

    // MARK: Timers

    /// The time that the timers follow, in nanoseconds. Any thread.
    public var now: Int64 { clock.now() }

    /// Runs `action` once, `nanoseconds` from now or as soon as the loop gets to it. A negative number counts as 0.
    @discardableResult
    public func schedule(after nanoseconds: Int64, _ action: @escaping () -> Void) -> TimerToken {
        assertOnLoop()
        #if DEBUG
            if nanoseconds <= 0 { spinning.scheduledWithoutDelay() }
        #endif
        let (deadline, overflow) = clock.now().addingReportingOverflow(max(nanoseconds, 0))
        return timers.insert(deadline: overflow ? .max : deadline, action)
    }

    /// Cancels the timer. Does nothing when it has run already.
    public func cancel(_ timer: TimerToken) {
        assertOnLoop()
        timers.remove(timer)
    }

    /// Makes a loop that was created with `drivenBy:` run the timers that are due now. Any thread.
    public func clockAdvanced() {
        post { self.runDueTimers() }
    }

    private func runDueTimers() {
        guard timers.nextDeadline != nil else { return }
        let now = clock.now()
        // A timer that one of these schedules waits for the next turn; otherwise a delay of 0 could starve the rest.
        let horizon = timers.horizon
        while let action = timers.takeDue(at: now, before: horizon) { action() }
    }

    /// Nanoseconds until the kernel wakes the loop for a timer; 0 when it will not.
    var armedNanoseconds: Int64 { kernelTimer.armedNanoseconds }

    // MARK: Descriptors

    /// Calls `handler` while `descriptor` is ready for one of `events`, in error or hung up. A second call for one
    /// descriptor replaces events and handler. The caller still owns the descriptor, and must call `unwatch` before
    /// closing it.
    /// - Throws: EPERM for a descriptor that is always ready (a regular file), EBADF, ENOMEM.
    public func watch(
        _ descriptor: Int32, for events: Readiness, _ handler: @escaping (Readiness) -> Void
    ) throws(SystemError) {
        assertOnLoop()
        try watches.watch(descriptor, for: events, handler)
    }

    /// Stops calling the handler of `descriptor`, even for readiness that was already fetched. Idempotent.
    public func unwatch(_ descriptor: Int32) {
        assertOnLoop()
        watches.unwatch(descriptor)
    }

    private func waitAndDispatch() {
        var ready = WatchedDescriptors.Events(repeating: epoll_event())
        for index in 0..<watches.wait(&ready) {
            let event = ready[index]
            switch event.data.u64 {
            case Self.wakeUpRegistration: break
            // The timer has fired: setting or disarming it again clears its readiness.
            case Self.timerRegistration: kernelTimer.fired()
            case let registration:
                #if DEBUG
                    spinning.hadOtherWork()
                #endif
                watches.handler(of: registration)?(Readiness(rawValue: event.events))
            }
        }
    }

    // MARK: Signals

    /// Calls `handler` on the loop's thread with the number of each signal that arrives, instead of its default action.
    /// Must be called before any other thread is started: it blocks the signals for the calling thread and for threads
    /// that it starts later. A thread that does not block them would still receive them.
    /// - Throws: when the process or the system has no file descriptor left.
    public func onSignal(_ signals: [Int32], _ handler: @escaping (Int32) -> Void) throws(SystemError) {
        assertOnLoop()
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        let descriptor = signalfd(-1, &set, Int32(SFD_CLOEXEC | SFD_NONBLOCK))
        guard descriptor >= 0 else { throw .last("signalfd") }
        signalDescriptors.append(descriptor)
        try watch(descriptor, for: .readable) { _ in
            var information = signalfd_siginfo()
            while read(descriptor, &information, MemoryLayout<signalfd_siginfo>.size) > 0 {
                handler(Int32(information.ssi_signo))
            }
        }
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }
}
