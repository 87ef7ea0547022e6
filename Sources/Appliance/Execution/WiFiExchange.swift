import Database
import Library
import Platform

/// Carries out requests about Wi-Fi: passes them to the system, and reads its reports.
///
/// Thread: the daemon's; answers follow later on the same thread. Files are read and written on the storage thread.
/// `@unchecked Sendable` is safe because only the storage thread uses `joining`.
final class WiFiExchange: @unchecked Sendable {
    private let folder: WiFiFolder
    private let exchange: SystemExchange
    /// The report that follows a request to join a network.
    private var joining = AwaitedReport()

    init(_ folder: WiFiFolder, storage: StorageThread, loop: EventLoop) {
        self.folder = folder
        exchange = SystemExchange(folder.files, storage: storage, loop: loop)
    }

    /// - Parameter answer: called once, later.
    func perform(_ request: WiFiRequest, _ answer: @escaping SystemExchange.Answer) {
        exchange.perform({ [self] () throws(RemoteFailure) in try carryOut(request) }, answer)
    }

    private func carryOut(_ request: WiFiRequest) throws(RemoteFailure) -> RemoteReply {
        // Read before the state: if the system has taken the request, the state then includes its beginning.
        let isWanted = folder.files.isWanted
        let stamp = folder.files.stateStamp
        let status: WiFiStatus
        do throws(SystemError) { status = try folder.status() } catch { throw Self.failure(error) }
        switch request {
        case .status: return .wifi(waiting(status, isWanted, stamp))
        case .scan:
            // A request to scan must not replace a waiting request.
            if isWanted { return .done }
        case .connect(let trial): try Self.check(trial, status.networks)
        case .forget(let name): try Self.check(name, status.known)
        }
        do throws(SystemError) { try folder.files.want(request.wanted ?? "") } catch { throw Self.failure(error) }
        if case .scan = request { return .done }
        if case .connect = request { joining.begin(stamp) } else { joining.end() }
        return .done
    }

    private func waiting(_ status: WiFiStatus, _ isWanted: Bool, _ stamp: FileStamp?) -> WiFiStatus {
        var status = status
        joining.see(isWanted: isWanted, stamp)
        status.isWaiting = isWanted || joining.isAwaited
        if joining.isAwaited { status.failure = nil }
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
