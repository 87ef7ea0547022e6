import Platform

/// The request for the address of the service's streaming privileges. It has a thread for as long as it takes.
///
/// Thread: control.
struct PrivilegesDiscovery {
    /// The user of the last request.
    private(set) var user: String?
    private var thread: CancellableThread?

    /// Begins a request, and cancels an earlier one.
    /// - Parameter answered: called on the thread of the request.
    mutating func begin(
        _ service: PrivilegesService, answered: @escaping @Sendable (PrivilegesService.Answer) -> Void
    ) throws(SystemError) {
        user = service.credentials.user(of: nil)
        let former = thread
        former?.cancel()
        thread = nil
        thread = try CancellableThread("privileges", priority: .normal) { cancellation in
            former?.join()
            answered(service.discover(cancellation))
        }
    }

    /// Ends the request soon.
    func cancel() { thread?.cancel() }

    /// Ends the request, and returns when its thread has ended.
    mutating func end() {
        thread?.cancel()
        thread?.join()
        thread = nil
    }
}
