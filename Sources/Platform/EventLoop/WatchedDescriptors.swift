import CLinux

/// The descriptors that epoll(7) watches for an event loop, and their handlers. They are found by registration, not by
/// descriptor: an event that was already fetched must not reach the handler of a later registration with the same
/// descriptor.
///
/// Thread: the loop's.
struct WatchedDescriptors: ~Copyable {
    /// The events of one wait.
    typealias Events = InlineArray<16, epoll_event>

    /// How often `wait` has returned.
    private(set) var waitCount = 0

    private let epoll: Int32
    private var handlers: [UInt64: (Readiness) -> Void] = [:]
    private var registrations: [Int32: UInt64] = [:]
    /// The registration of the next `watch`. The loop uses 0 and 1 itself.
    private var nextRegistration: UInt64 = 2

    /// - Throws: when the process or the system has no file descriptor left.
    init() throws(SystemError) {
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        if epoll < 0 { throw .last("epoll_create1") }
    }

    deinit { if epoll >= 0 { close(epoll) } }

    /// Adds a descriptor of the loop itself, which has no handler.
    func add(_ descriptor: Int32, registration: UInt64) throws(SystemError) {
        try control(EPOLL_CTL_ADD, descriptor, .readable, registration)
    }

    /// Adds a descriptor, or replaces its events and its handler.
    mutating func watch(
        _ descriptor: Int32, for events: Readiness, _ handler: @escaping (Readiness) -> Void
    ) throws(SystemError) {
        let former = registrations[descriptor]
        try control(former == nil ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, descriptor, events, nextRegistration)
        if let former { handlers[former] = nil }
        registrations[descriptor] = nextRegistration
        handlers[nextRegistration] = handler
        nextRegistration += 1
    }

    /// Removes a descriptor, if it is there.
    mutating func unwatch(_ descriptor: Int32) {
        guard let registration = registrations.removeValue(forKey: descriptor) else { return }
        handlers[registration] = nil
        var event = epoll_event()
        epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, &event)
    }

    func handler(of registration: UInt64) -> ((Readiness) -> Void)? { handlers[registration] }

    /// Blocks until descriptors are ready.
    /// - Returns: how many of `events` were filled in.
    mutating func wait(_ events: inout Events) -> Int {
        var count: Int32
        repeat {
            var span = events.mutableSpan
            count = span.withUnsafeMutableBufferPointer {
                epoll_wait(epoll, $0.baseAddress, Int32($0.count), -1)
            }
        } while count < 0 && tonearm_errno() == EINTR
        precondition(count >= 0, "epoll_wait")
        waitCount += 1
        return Int(count)
    }

    private func control(
        _ operation: Int32, _ descriptor: Int32, _ events: Readiness, _ registration: UInt64
    ) throws(SystemError) {
        var event = epoll_event()
        event.events = events.rawValue
        event.data.u64 = registration
        if epoll_ctl(epoll, operation, descriptor, &event) != 0 { throw .last("epoll_ctl") }
    }
}
