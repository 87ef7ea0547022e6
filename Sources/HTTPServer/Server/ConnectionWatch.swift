import CLinux
import CMicroHTTPD
import Platform

/// Ends connections whose request is late, and those that make room for others, as `ConnectionTable` decides.
///
/// Thread: any; one of its own waits for the deadlines, and sleeps while there are none. `@unchecked Sendable` is safe
/// because `condition` guards the state, and `thread` belongs to the owner.
final class ConnectionWatch: @unchecked Sendable {
    private let condition = Condition()
    private let clock = SystemMonotonicClock()
    private var table: ConnectionTable
    private var isStopped = false
    private var thread: NamedThread?

    init(_ table: ConnectionTable) { self.table = table }

    /// - Throws: when no thread can be made.
    func start() throws(SystemError) {
        thread = try NamedThread.start(name: "web deadlines", stackSize: 128 << 10) { [self] in run() }
    }

    /// Ends the thread. The owner calls it.
    func stop() {
        condition.update { isStopped = true }
        thread?.join()
        thread = nil
    }

    // The descriptors are shut down under the lock: `close` is called before libmicrohttpd closes one, whose number may
    // be another connection's afterwards.

    func open(_ descriptor: Int32, _ address: [UInt8]) {
        condition.update {
            let ending = table.open(descriptor, ClientPlaces.network(of: address), at: clock.now())
            if let ending { tonearm_shut_down(ending) }
        }
    }

    func receive(_ descriptor: Int32) { condition.update { table.receive(descriptor, at: clock.now()) } }

    func answered(_ descriptor: Int32) { condition.update { table.answered(descriptor, at: clock.now()) } }

    func close(_ descriptor: Int32) { condition.update { table.close(descriptor) } }

    private func run() {
        while true {
            // Safe: they are used on this thread alone.
            var due: Int64?
            let isOver = condition.update {
                for descriptor in table.late(at: clock.now()) { tonearm_shut_down(descriptor) }
                due = table.nextDue
                return isStopped
            }
            if isOver { return }
            // A change of another deadline is seen when this one is over: they never come closer.
            if let due {
                condition.wait(atMost: max(0, due - clock.now())) { isStopped }
            } else {
                condition.wait { isStopped || table.nextDue != nil }
            }
        }
    }
}

/// Called when a connection begins, and before its descriptor is closed.
let watchConnection: MHD_NotifyConnectionCallback = { context, connection, _, code in
    guard let context, let connection else { return }
    let watch = Unmanaged<HTTPServer.Context>.fromOpaque(context).takeUnretainedValue().watch
    let client = HTTPConnection(connection)
    if code == .CONNECTION_NOTIFY_STARTED {
        watch.open(client.descriptor, client.peerAddress)
    } else {
        watch.close(client.descriptor)
    }
}
