import Network
import PlayerTestSupport

@testable import Fetching
@testable import Player

/// Fixtures of the suites about a resource of the service.
protocol TransferSuite {
    var network: ScriptedNetwork { get }
    var received: RecordedResource { get }
}

extension TransferSuite {
    /// The bytes of the resource.
    var content: [UInt8] { Array(0..<100) }

    func begin(_ range: ByteRange? = nil, _ purpose: RetrySchedule.Purpose = .playback) -> ResourceTransfer {
        ResourceTransfer(
            TransferRequest(url: "https://a/b", range: range), over: network, for: purpose, into: received)
    }
}
