import Manifests
import Media
import Network
import PlayerTestSupport
import Testing

@testable import Fetching
@testable import Player

@Suite("A transfer that is cancelled ends at once, whatever it does")
struct CancelledTransferTests {
    /// The state of a transfer when it is cancelled.
    enum State: CaseIterable {
        case connecting, headArrived, bodyArriving, paused, waitingForServer, waitingForLink, atOtherAddress, over

        func reach(_ network: ScriptedNetwork) {
            let transfer = network.last
            switch self {
            case .connecting: break
            case .headArrived: transfer.begin(200, [("Content-Length", "10")])
            case .bodyArriving:
                transfer.begin(200, [("Content-Length", "10")])
                transfer.deliver([1, 2, 3])
            case .paused:
                transfer.begin(200, [("Content-Length", "10")])
                transfer.deliver([1, 2, 3, 4, 5, 6])
                transfer.deliver([7])
            case .waitingForServer: transfer.answer(503)
            case .waitingForLink: transfer.end(.connection(.lost))
            case .atOtherAddress: transfer.end(.nameResolution)
            case .over: transfer.answer(200, [("Content-Length", "2")], [1, 2])
            }
        }
    }

    /// Takes six bytes.
    // @unchecked: used on the test's thread alone.
    private final class Receiver: ResourceReceiver, @unchecked Sendable {
        var count = 0
        var ends: [ResourceFailure?] = []

        func began(_ head: ResponseHead, length: Int64?) {}

        func received(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer {
            guard count < 6 else { return .enough }
            count += bytes.count
            return .more
        }

        func ended(_ failure: ResourceFailure?) { ends.append(failure) }
    }

    @Test("In every state, within 50 ms and once", arguments: State.allCases)
    func cancelled(state: State) {
        let (network, receiver) = (ScriptedNetwork(), Receiver())
        let alternatives = Alternatives(
            "https://a/x", bases: state == .atOtherAddress ? ["https://a/", "https://b/"] : [])
        let transfer = ResourceTransfer(
            TransferRequest(url: "https://a/x"), over: network,
            at: ResourceAddresses(alternatives, failed: FailedAddresses()), into: receiver)
        state.reach(network)
        let (waits, begun) = (network.delays.count, network.transfers.count)
        transfer.cancel()
        // The only wait is that for the network's next turn.
        #expect(network.delays.dropFirst(waits).allSatisfy { $0 <= 50 })
        network.passDelays()
        #expect(receiver.ends == [state == .over ? nil : .cancelled])
        #expect(network.transfers.count == begun)
        transfer.cancel()
        network.passDelays()
        #expect(receiver.ends.count == 1)
    }
}
