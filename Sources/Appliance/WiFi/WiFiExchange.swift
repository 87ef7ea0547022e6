import Database
import Library
import Platform

/// Carries out requests about Wi-Fi: passes them to the system, and reads its reports.
///
/// Thread: the daemon's; answers follow later on the same thread. Files are read and written on the storage thread.
/// `@unchecked Sendable` is safe because only the storage thread uses `joining`.
final class WiFiExchange: @unchecked Sendable {
    typealias Answer = (Result<RemoteReply, RemoteFailure>) -> Void

    private let folder: WiFiFolder
    private let storage: StorageThread
    private let loop: EventLoop
    /// A request to join a network, until the system has reported a state after it. Otherwise a client could take the
    /// failure of the attempt before for that of its own.
    private var joining: Joining?

    private struct Joining {
        /// The version of the system's state at the time of the request.
        var state: FileStamp?
    }

    init(_ folder: WiFiFolder, storage: StorageThread, loop: EventLoop) {
        self.folder = folder
        self.storage = storage
        self.loop = loop
        storage.perform { folder.removeLeftovers() }
    }

    /// - Parameter answer: called once, later.
    func perform(_ request: WiFiRequest, _ answer: @escaping Answer) {
        loop.assertOnLoop()
        // Safe: the storage thread passes it back to the loop and does not call it.
        nonisolated(unsafe) let answer = answer
        let loop = loop
        let willAnswer = storage.perform { [self] in
            var result: Result<RemoteReply, RemoteFailure>
            do throws(RemoteFailure) { result = .success(try carryOut(request)) } catch { result = .failure(error) }
            let complete = result
            loop.post { answer(complete) }
        }
        if !willAnswer { answer(.failure(.ending)) }
    }

    private func carryOut(_ request: WiFiRequest) throws(RemoteFailure) -> RemoteReply {
        // Before the state: when the request is gone already, the state is that after its beginning.
        let isWanted = folder.isWanted
        let stamp = folder.stateStamp
        let status: WiFiStatus
        do throws(SystemError) { status = try folder.status() } catch { throw Self.failure(error) }
        switch request {
        case .status: return .wifi(waiting(status, isWanted, stamp))
        case .scan:
            // It must not replace a request that waits.
            if isWanted { return .done }
        case .connect(let trial): try Self.check(trial, status.networks)
        case .forget(let name): try Self.check(name, status.known)
        }
        do throws(SystemError) { try folder.want(request.wanted ?? "") } catch { throw Self.failure(error) }
        if case .scan = request { return .done }
        if case .connect = request { joining = Joining(state: stamp) } else { joining = nil }
        return .done
    }

    private func waiting(_ status: WiFiStatus, _ isWanted: Bool, _ stamp: FileStamp?) -> WiFiStatus {
        var status = status
        // The state may have changed after the request was written, by something that was begun before it.
        if isWanted { joining?.state = stamp }
        if let joining, !isWanted, joining.state != stamp { self.joining = nil }
        status.isWaiting = isWanted || joining != nil
        if joining != nil { status.failure = nil }
        return status
    }

    private static func check(_ trial: WiFiTrial, _ networks: [FoundWiFi]) throws(RemoteFailure) {
        guard let found = networks.first(where: { $0.name == trial.name }) else { return }
        if found.security == .other { throw refusal(trial.name, "its security, WEP or 802.1X, is not supported") }
        if found.security != .open, trial.password == nil {
            throw refusal(trial.name, "this network is not open: password is missing")
        }
    }

    private static func check(_ name: WiFiName, _ known: [KnownWiFi]) throws(RemoteFailure) {
        guard let network = known.first(where: { $0.name == name }) else {
            throw refusal(name, "this network is not known", .noSuchEntry)
        }
        if !network.canBeForgotten {
            throw refusal(name, "this network is in the system's configuration; remove it there")
        }
    }

    private static func refusal(
        _ name: WiFiName, _ message: String, _ reason: RemoteFailure.Reason = .badRequest
    ) -> RemoteFailure {
        RemoteFailure(reason, name.text + ": " + message)
    }

    private static func failure(_ error: SystemError) -> RemoteFailure {
        RemoteFailure(
            .system, "the system's part of Wi-Fi cannot be reached ([network] wifi-folder): " + error.description)
    }
}
