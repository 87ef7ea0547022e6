import Foundation
import Platform
import TestSupport
import Testing

@testable import Network

@Suite("Offline mode (docs/decisions/offline-mode-is-a-switch.md)")
struct OfflineModeTests {
    /// Half of each answer; then the connection stays open until the client closes it.
    private static func half(_ closed: DispatchSemaphore) -> @Sendable (ScriptedConnection) -> Void {
        { connection in
            while connection.request() != nil { connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf!") }
            closed.signal()
        }
    }

    @Test(
        "Transfers end, none begins, and connections are closed; afterwards all is as before",
        arguments: [true, false])
    func transfers(mayUseMeteredLink: Bool) throws {
        let network = try Network.forTests()
        let closed = DispatchSemaphore(value: 0)
        let server = ScriptedServer(Self.half(closed))
        var request = TransferRequest(url: server.url())
        request.mayUseMeteredLink = mayUseMeteredLink
        let sink = RecordingSink()
        _ = network.start(request, into: sink)
        sink.waitForBytes()
        network.setOfflineMode(true)
        #expect(sink.waitForEnd() == .offlineMode)
        #expect(sink.text == "half!")
        closed.waitOrEndRun("the end of the connection")
        #expect(network.run(request).error == .offlineMode)
        // Before any lookup, and for any address.
        #expect(network.run("http://nowhere.test/").error == .offlineMode)
        #expect(server.connectionCount == 1)
        network.setOfflineMode(false)
        let again = RecordingSink()
        _ = network.start(request, into: again)
        again.waitForBytes()
        #expect(again.text == "half!" && server.connectionCount == 2)
        network.stop()
    }

    @Test("A transfer that is paused, that has no answer yet, or no connection, ends as well")
    func phases() throws {
        let network = try Network.forTests { $0.maximumConnectionsPerHost = 1 }
        let silent = ScriptedServer { $0.waitForClose() }
        let long = ScriptedServer { connection in
            _ = connection.request()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf!")
            connection.waitForClose()
        }
        let paused = RecordingSink(room: 0)
        let (waiting, queued) = (RecordingSink(), RecordingSink())
        _ = network.start(TransferRequest(url: long.url()), into: paused)
        paused.waitForRefusals(1)
        _ = network.start(TransferRequest(url: silent.url()), into: waiting)
        _ = network.start(TransferRequest(url: silent.url()), into: queued)
        expectSoon("the connection") { silent.connectionCount == 1 }
        network.setOfflineMode(true)
        #expect([paused, waiting, queued].map { $0.waitForEnd() } == [.offlineMode, .offlineMode, .offlineMode])
        network.stop()
    }

    @Test("An idle connection is closed")
    func idle() throws {
        let network = try Network.forTests()
        let closed = DispatchSemaphore(value: 0)
        let server = ScriptedServer { connection in
            while connection.request() != nil { connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") }
            closed.signal()
        }
        #expect(network.run(server.url()).sink.text == "ok")
        network.setOfflineMode(true)
        closed.waitOrEndRun("the end of the connection")
        network.stop()
    }

    @Test("Every wait for another attempt ends, so that it finds out; the end of the mode ends none")
    func waits() throws {
        let network = try Network.forTests()
        let cancellation = try Cancellation()
        let condition = Condition()
        let ended = Locked<[String]>([])
        let record: @Sendable (String) -> Void = { name in
            condition.update { ended.withLock { $0.append(name) } }
        }
        network.waitForLink(atMost: .max / 2) { _ in record("link") }
        network.waitForServer(atMost: .max / 2) { record("server") }
        let seen = network.linkChanges
        Thread.detachNewThread {
            _ = network.waitForLink(since: seen, atMost: .max / 2, cancellation: cancellation)
            record("blocked link")
        }
        Thread.detachNewThread {
            if !network.wait(.max / 2, cancellation: cancellation) { record("blocked server") }
        }
        // A wait may begin after the switch: then the next one ends it. It is a switch, and no event.
        expectSoon("the ends") {
            network.setOfflineMode(true)
            network.setOfflineMode(false)
            return Set(ended.value) == ["link", "server", "blocked link", "blocked server"]
        }
        network.stop()
    }
}
