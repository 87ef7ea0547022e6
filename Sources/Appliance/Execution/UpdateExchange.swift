import Database
import Library
import Platform

/// Carries out requests about updates of the firmware image: passes them to the system, and reads its reports.
///
/// Thread: the daemon's; answers follow later on the same thread. Files are read and written on the storage thread.
/// `@unchecked Sendable` is safe because only the storage thread uses `installing`, and only the daemon's `notify`.
final class UpdateExchange: @unchecked Sendable {
    private let exchange: SystemExchange
    /// The address that is used by a request without an address.
    private let standard: UpdateAddress?
    /// Notifies the system that there is a request.
    private let notify: () -> Void
    /// The report that follows a request to install an update.
    private var installing = AwaitedReport()

    /// - Parameters:
    ///   - standard: the address that is used by a request without an address.
    ///   - notify: called after a request was written, and once at the start if a request waits.
    init(
        _ folder: SystemFolder, standard: UpdateAddress?, storage: StorageThread, loop: EventLoop,
        notify: @escaping () -> Void
    ) {
        exchange = SystemExchange(folder, storage: storage, loop: loop)
        self.standard = standard
        self.notify = notify
        // Safe: only the loop calls it.
        nonisolated(unsafe) let notify = notify
        // The previous process may have ended before it notified the system of the request.
        storage.perform { if folder.isWanted || folder.isCancelWanted { loop.post { notify() } } }
    }

    /// - Parameter answer: called once, later.
    func perform(_ request: UpdateRequest, _ answer: @escaping SystemExchange.Answer) {
        exchange.perform({ [self] () throws(RemoteFailure) in try carryOut(request) }) { [notify] result in
            if case .success(.done) = result { notify() }
            answer(result)
        }
    }

    private func carryOut(_ request: UpdateRequest) throws(RemoteFailure) -> RemoteReply {
        // Read before the state: if the system has taken the request, the state then includes its beginning.
        let isWanted = exchange.folder.isWanted
        let stamp = exchange.folder.stateStamp
        var status: UpdateStatus
        do throws(SystemError) { status = UpdateStatus(state: try exchange.folder.contents(of: "state")) } catch {
            throw Self.failure(error)
        }
        installing.see(isWanted: isWanted, stamp)
        let isWaiting = isWanted || installing.isAwaited
        switch request {
        case .status:
            status.isWaiting = isWaiting
            if installing.isAwaited { status.problem = nil }
            status.address = standard
            return .update(status)
        case .cancel:
            guard isWaiting || status.isRunning else { return .done }
            do throws(SystemError) { try exchange.folder.cancel() } catch { throw Self.failure(error) }
            installing.end()
            return .done
        case .install(let named): return try install(named, status, isWanted: isWanted, stamp)
        }
    }

    /// - Parameters:
    ///   - isWanted: whether the last request waits for the system.
    ///   - stamp: the version of the system's state.
    private func install(
        _ named: UpdateAddress?, _ status: UpdateStatus, isWanted: Bool, _ stamp: FileStamp?
    ) throws(RemoteFailure) -> RemoteReply {
        guard let address = named ?? standard else {
            throw RemoteFailure(.badRequest, "address is missing: the configuration has none ([update] address)")
        }
        // A request that the system has not begun is replaced.
        if status.isRunning || (installing.isAwaited && !isWanted) {
            throw RemoteFailure(.updateRuns, "an update runs already: wait for its end, or cancel it")
        }
        do throws(SystemError) {
            try exchange.folder.withdrawCancel()
            try exchange.folder.want(UpdateRequest.wanted(from: address))
        } catch {
            throw Self.failure(error)
        }
        installing.begin(stamp)
        return .done
    }

    private static func failure(_ error: SystemError) -> RemoteFailure {
        RemoteFailure(
            .system, "the system's part of updates cannot be reached ([update] folder): " + error.description)
    }
}
