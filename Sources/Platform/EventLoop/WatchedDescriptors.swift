/// The handlers of watched descriptors. They are found by registration, not by descriptor: an event that was already
/// fetched must not reach the handler of a later registration with the same descriptor.
struct WatchedDescriptors {
    private var handlers: [UInt64: (Readiness) -> Void] = [:]
    private var registrations: [Int32: UInt64] = [:]
    /// The registration of the next `set`. The loop uses 0 and 1 itself.
    private(set) var nextRegistration: UInt64 = 2

    func contains(_ descriptor: Int32) -> Bool { registrations[descriptor] != nil }

    func handler(of registration: UInt64) -> ((Readiness) -> Void)? { handlers[registration] }

    /// Adds a descriptor, or replaces its handler.
    mutating func set(_ descriptor: Int32, _ handler: @escaping (Readiness) -> Void) {
        if let former = registrations[descriptor] { handlers[former] = nil }
        registrations[descriptor] = nextRegistration
        handlers[nextRegistration] = handler
        nextRegistration += 1
    }

    /// - Returns: whether the descriptor was there.
    mutating func remove(_ descriptor: Int32) -> Bool {
        guard let registration = registrations.removeValue(forKey: descriptor) else { return false }
        handlers[registration] = nil
        return true
    }
}
