import Manifests
import Media
import Network
import TestSupport
import PlayerTestSupport
import Testing

@testable import Fetching

@Suite("A transfer whose network answers before it has returned the request")
struct EarlyAnswerTests {
    private let network = ScriptedNetwork()
    private let received = RecordedResource()
    private let request = TransferRequest(url: "https://a/b")

    @Test("A head that ends the transfer cancels the request once it is returned")
    func ended() {
        network.server = { $0.begin(200, [("ETag", "\"v2\"")]) }
        let former = ResourceVersion(validator: "\"v1\"")
        _ = ResourceTransfer(request, of: former, over: network, into: received)
        #expect(network.last.isCancelled && network.transfers.count == 1 && received.ends == [.changed])
    }

    @Test("Another part is cancelled once its request is returned, and the whole is requested")
    func otherPart() {
        let content = Array(UInt8(0)..<100)
        network.server = { transfer in
            if transfer.request.range == nil { return transfer.answer(200, [("Content-Length", "100")], content) }
            transfer.begin(206)
        }
        _ = ResourceTransfer(request, from: 20, over: network, into: received)
        #expect(network.transfers[0].isCancelled && network.transfers.count == 2)
        #expect(received.bytes == Array(content[20...]) && received.ends == [nil])
    }

    @Test("A request that is cancelled before it is returned is cancelled afterwards")
    func cancelled() {
        let transfer = Locked<ResourceTransfer?>(nil)
        network.server = { request in
            guard let transfer = transfer.value else { return request.end(.connection(.lost)) }
            transfer.cancel()
        }
        // Not under the lock: the request begins at once.
        let begun = ResourceTransfer(request, over: network, into: received)
        transfer.withLock { $0 = begun }
        network.passDelays()
        #expect(network.transfers.count == 2 && network.last.isCancelled && received.ends == [.cancelled])
    }

    @Test("The request that is returned last is not the running one")
    func nested() {
        network.server = { transfer in
            if transfer.request.url == "https://a/b" { return transfer.end(.connection(.lost)) }
            transfer.begin(200)
        }
        let addresses = ResourceAddresses(
            Alternatives("https://a/b", bases: ["https://a/", "https://c/"]), failed: FailedAddresses())
        let transfer = ResourceTransfer(request, over: network, at: addresses, into: received)
        transfer.resume()
        #expect(network.transfers.map { $0.resumes } == [0, 1])
        transfer.cancel()
        #expect(network.transfers.map { $0.isCancelled } == [false, true] && received.ends == [.cancelled])
    }
}
