import CLinux

/// A thread of the operating system with a name, which `top -H` and a debugger show.
/// `@unchecked Sendable` is safe because `handle` and `refusal` never change, and only the owner joins.
public final class NamedThread: @unchecked Sendable {
    public enum Priority: Equatable, Sendable {
        /// The system's ordinary scheduling.
        case normal
        /// The lowest share of the processor, and the disk only when no other thread wants it.
        case background
        /// SCHED_FIFO with this priority, 1 to 99. Forked processes do not inherit it.
        case realtime(Int)
    }

    /// Why the thread runs with normal priority although it requested real time; nil when it has the requested one.
    public let refusal: RealtimeRefusal?

    private let handle: pthread_t
    private var isJoined = false

    private init(handle: pthread_t, refusal: RealtimeRefusal?) {
        self.handle = handle
        self.refusal = refusal
    }

    deinit {
        if !isJoined { pthread_detach(handle) }
    }

    /// Starts a thread that runs `body` and then ends. It inherits the caller's signal mask. A missing permission for
    /// real-time priority is not an error: see `refusal`.
    /// - Parameters:
    ///   - name: the kernel's name for the thread, which is cut to 15 bytes.
    ///   - stackSize: the size in bytes, rounded up to the system's minimum. nil: the system's default (usually 8 MB,
    ///     of which only the used part takes memory).
    /// - Throws: EAGAIN when no more threads are allowed, ENOMEM.
    public static func start(
        name: String, priority: Priority = .normal, stackSize: Int? = nil, _ body: @escaping @Sendable () -> Void
    ) throws(SystemError) -> NamedThread {
        let launch = Launch(name: name, priority: priority, body: body)
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        if let stackSize {
            let page = sysconf(Int32(_SC_PAGESIZE))
            let least = max(stackSize, sysconf(Int32(_SC_THREAD_STACK_MIN)))
            pthread_attr_setstacksize(&attributes, (least + page - 1) / page * page)
        }
        let context = Unmanaged.passRetained(launch)
        var handle = pthread_t()
        let code = pthread_create(
            &handle, &attributes,
            { context in
                Unmanaged<Launch>.fromOpaque(context!).takeRetainedValue().run()
                return nil
            }, context.toOpaque())
        guard code == 0 else {
            context.release()
            throw SystemError(code: code, operation: "pthread_create", subject: name)
        }
        return NamedThread(handle: handle, refusal: launch.waitForRefusal())
    }

    /// Blocks until the thread has ended. Idempotent. Must be called by one thread at a time, and not by the thread
    /// itself.
    public func join() {
        guard !isJoined else { return }
        let code = pthread_join(handle, nil)
        precondition(code == 0, "NamedThread.join: a thread cannot wait for its own end")
        isJoined = true
    }
}

/// The start data of a thread, and its result for the priority.
/// `@unchecked Sendable` is safe because `condition` guards the mutable state.
private final class Launch: @unchecked Sendable {
    private let name: String
    private let priority: NamedThread.Priority
    private let body: @Sendable () -> Void
    private let condition = Condition()
    /// Guarded by `condition`.
    private var hasBegun = false
    private var refusal: RealtimeRefusal?

    init(name: String, priority: NamedThread.Priority, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.priority = priority
        self.body = body
    }

    func run() {
        var kernelName = Array(name.utf8.prefix(15))
        kernelName.append(0)
        kernelName.withUnsafeBytes { bytes in
            _ = tonearm_name_this_thread(bytes.bindMemory(to: CChar.self).baseAddress)
        }
        var refusal: RealtimeRefusal?
        if priority == .background { tonearm_use_background_priority() }
        if case .realtime(let level) = priority {
            let code = tonearm_use_realtime_priority(Int32(clamping: level))
            if code != 0 {
                refusal = RealtimeRefusal(
                    thread: name, priority: level, limit: Int(clamping: tonearm_realtime_priority_limit()), code: code)
            }
        }
        condition.update {
            self.refusal = refusal
            hasBegun = true
        }
        body()
    }

    func waitForRefusal() -> RealtimeRefusal? {
        condition.wait { hasBegun }
        return refusal
    }
}
