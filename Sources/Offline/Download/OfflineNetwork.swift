import Fetching
import Network

/// The network for the offline engine: each request states whether it may use a metered link
/// (docs/decisions/metered-by-route.md).
///
/// Thread: any.
final class OfflineNetwork: ServiceNetwork {
    private let network: any ServiceNetwork
    private let permission: MeteredPermission

    init(_ network: any ServiceNetwork, _ permission: MeteredPermission) {
        (self.network, self.permission) = (network, permission)
    }

    func begin(_ request: TransferRequest, into sink: any TransferSink) -> any OngoingTransfer {
        var request = request
        request.mayUseMeteredLink = permission.isGiven
        return network.begin(request, into: sink)
    }

    func schedule(after nanoseconds: Int64, _ action: @escaping @Sendable () -> Void) {
        network.schedule(after: nanoseconds, action)
    }

    func waitForLink(atMost nanoseconds: Int64, _ action: @escaping @Sendable (LinkWaitEnd) -> Void) {
        network.waitForLink(atMost: nanoseconds, action)
    }

    func waitForServer(atMost nanoseconds: Int64, _ action: @escaping @Sendable () -> Void) {
        network.waitForServer(atMost: nanoseconds, action)
    }
}
