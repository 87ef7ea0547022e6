import Foundation
import Network
import Platform
import TestSupport
import Testing

@Suite("Cancelling, pausing, stopping")
struct CancellationTests {
    private let nginx: Nginx
    private let network: Network

    init() throws {
        nginx = try Nginx.shared.get()
        network = try .forTests()
    }

    /// Only the cancellation can end these transfers: their time limits are minutes.
    private func expectCancellation(_ transfer: Transfer, _ sink: RecordingSink) {
        #expect(sink.endCount == 0)
        transfer.cancel()
        #expect(sink.waitForEnd() == .cancelled)
        // Once, however often it is asked for.
        transfer.cancel()
        transfer.resume()
        _ = network.run(nginx.url("/small"))
        #expect(sink.endCount == 1)
    }

    @Test("is heard while a name is looked up", .enabled(if: PrivateResolver.isAvailable))
    func resolving() throws {
        let resolver = try PrivateResolver(3)
        let network = try resolver.network(.forTests())
        let sink = RecordingSink()
        let transfer = network.start(TransferRequest(url: "http://music.example/"), into: sink)
        _ = resolver.waitForQuestion()
        expectCancellation(transfer, sink)
        network.stop()
        // No thread waited for the resolver: it has asked for the addresses of both families, and not yet again.
        #expect(resolver.unreadQuestionCount() <= 1)
    }

    @Test("is heard while connecting")
    func connecting() throws {
        // A queue of connections that is full: further ones get no answer.
        let (listener, port) = Loopback.listen(backlog: 0)
        defer { close(listener) }
        let sinks = (0..<3).map { _ in RecordingSink() }
        let transfers = sinks.map { network.start(TransferRequest(url: "http://127.0.0.1:\(port)/"), into: $0) }
        try waitUntil("a connection without an answer") { try hasUnansweredConnection(port) }
        for (transfer, sink) in zip(transfers, sinks) { expectCancellation(transfer, sink) }
    }

    /// State 02 of the kernel's list is SYN_SENT.
    private func hasUnansweredConnection(_ port: Int) throws -> Bool {
        let list = String(decoding: try File.contents(of: "/proc/net/tcp", limit: 1 << 22), as: UTF8.self)
        let remote = "0100007F:" + String(format: "%04X", port)
        return list.split(separator: "\n").contains { line in
            let words = line.split(separator: " ")
            return words.count > 3 && words[2] == remote && words[3] == "02"
        }
    }

    @Test("is heard during the handshake of TLS, and before the first byte", arguments: ["https", "http"])
    func beforeTheResponse(scheme: String) {
        let arrived = DispatchSemaphore(value: 0)
        let server = ScriptedServer { connection in
            _ = connection.bytes()
            arrived.signal()
            connection.waitForClose()
        }
        let sink = RecordingSink()
        let transfer = network.start(TransferRequest(url: server.url(scheme: scheme)), into: sink)
        arrived.waitOrEndRun("a request")
        expectCancellation(transfer, sink)
    }

    @Test("is heard in the middle of a body, and while it stalls")
    func body() {
        let server = ScriptedServer { connection in
            _ = connection.request()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
            connection.waitForClose()
        }
        for url in [nginx.url("/slow"), server.url()] {
            let sink = RecordingSink()
            let transfer = network.start(TransferRequest(url: url), into: sink)
            sink.waitForBytes()
            expectCancellation(transfer, sink)
        }
    }

    @Test("is heard while the sink has enough, and while a transfer waits for a connection")
    func paused() throws {
        let network = try Network.forTests { $0.maximumConnectionsPerHost = 1 }
        let (first, second) = (RecordingSink(room: 0), RecordingSink())
        let paused = network.start(TransferRequest(url: nginx.url("/file")), into: first)
        first.waitForRefusals(1)
        let waiting = network.start(TransferRequest(url: nginx.url("/file")), into: second)
        expectCancellation(waiting, second)
        expectCancellation(paused, first)
        #expect(network.run(nginx.url("/small")).sink.text == "small")
    }

    @Test("is allowed from the sink's own calls")
    func fromTheSink() {
        let transfer = Locked<Transfer?>(nil)
        let sink = RecordingSink(room: nil) { transfer.withLock { $0?.cancel() } }
        transfer.withLock { $0 = network.start(TransferRequest(url: nginx.url("/file")), into: sink) }
        #expect(sink.waitForEnd() == .cancelled)
        #expect(sink.endCount == 1)
    }

    @Test("a sink that has enough gets the same bytes again, and no limit of time counts")
    func pause() throws {
        let network = try Network.forTests { $0.silenceTimeout = 100 }
        let sink = RecordingSink(room: 100_000)
        let transfer = network.start(TransferRequest(url: nginx.url("/file")), into: sink)
        sink.waitForRefusals(1)
        let refusals = sink.refusalCount
        // Longer than the limit: another transfer meets it meanwhile.
        let silent = ScriptedServer { connection in
            _ = connection.request()
            connection.send("HTTP/1.1 200 OK\r\n")
            connection.waitForClose()
        }
        #expect(network.run(silent.url()).error == .timeOut(.body))
        #expect(sink.endCount == 0)
        // Without `resume` nothing is delivered.
        #expect(sink.refusalCount == refusals)
        transfer.resume()
        sink.waitForRefusals(refusals + 1)
        #expect(sink.endCount == 0)
        sink.setRoom(nil)
        transfer.resume()
        #expect(sink.waitForEnd() == nil)
        #expect(sink.body == nginx.file)
    }

    @Test("while the sink has enough, the server cannot send on")
    func backPressure() {
        let sent = Locked(0)
        let block = [UInt8](repeating: 7, count: 65_536)
        let server = ScriptedServer { connection in
            _ = connection.request()
            connection.send("HTTP/1.1 200 OK\r\n\r\n")
            // More than the buffers of both sockets take: a send that waits for ever proves it.
            while sent.withLock({ $0 }) < 4096, connection.send(block) { sent.withLock { $0 += 1 } }
        }
        let sink = RecordingSink(room: 0)
        let transfer = network.start(TransferRequest(url: server.url()), into: sink)
        sink.waitForRefusals(1)
        // Other transfers continue.
        for _ in 0..<20 { #expect(network.run(nginx.url("/small")).error == nil) }
        #expect(sent.withLock { $0 } < 4096)
        expectCancellation(transfer, sink)
    }

    @Test("stopping cancels every transfer, and later ones at once")
    func stop() {
        let server = ScriptedServer { $0.waitForClose() }
        let sinks = (0..<10).map { _ in RecordingSink() }
        for sink in sinks { _ = network.start(TransferRequest(url: server.url()), into: sink) }
        network.stop()
        for sink in sinks { #expect(sink.endCount == 1 && sink.waitForEnd() == .cancelled) }
        let late = RecordingSink()
        _ = network.start(TransferRequest(url: nginx.url("/small")), into: late)
        #expect(late.waitForEnd() == .cancelled)
        network.stop()
    }

    @Test("stopping waits for the thread, also when it has hardly started")
    func stopAtOnce() throws {
        for _ in 0..<100 {
            let network = try Network.forTests()
            let sink = RecordingSink()
            _ = network.start(TransferRequest(url: nginx.url("/slow")), into: sink)
            network.stop()
            #expect(sink.endCount == 1)
        }
    }

    @Test("a network that nobody needs any more stops by itself, also when a sink drops it")
    func dropped() throws {
        let kept = Locked<Network?>(try Network.forTests())
        let dropped = DispatchSemaphore(value: 0)
        let sink = RecordingSink(room: nil) {
            kept.withLock { $0 = nil }
            dropped.signal()
        }
        _ = kept.withLock { $0 }?.start(TransferRequest(url: nginx.url("/file")), into: sink)
        try dropped.wait(for: "the first bytes")
        let error = sink.waitForEnd()
        #expect(error == nil || error == .cancelled)
    }

    // MARK: Fetching

    @Test("a fetch has the whole response")
    func fetch() throws {
        let response = try network.fetch(
            TransferRequest(url: nginx.url("/missing")), maximumBody: 100, cancellation: Cancellation())
        #expect(response.head.status == 404)
        #expect(response.body == Array("not here".utf8))
        #expect(throws: TransferError.tooLarge) {
            try network.fetch(TransferRequest(url: nginx.url("/file")), maximumBody: 100, cancellation: Cancellation())
        }
    }

    @Test("a fetch ends with its cancellation, before and while it waits")
    func cancelledFetch() throws {
        let arrived = DispatchSemaphore(value: 0)
        let closed = DispatchSemaphore(value: 0)
        let server = ScriptedServer { connection in
            _ = connection.request()
            arrived.signal()
            connection.waitForClose()
            closed.signal()
        }
        let cancellation = try Cancellation()
        Thread.detachNewThread {
            arrived.waitInTime()
            cancellation.cancel()
        }
        #expect(throws: TransferError.cancelled) {
            try network.fetch(TransferRequest(url: server.url()), maximumBody: 100, cancellation: cancellation)
        }
        // The transfer ends, too.
        try closed.wait(for: "the end of the connection")
        #expect(throws: TransferError.cancelled) {
            try network.fetch(TransferRequest(url: nginx.url("/small")), maximumBody: 100, cancellation: cancellation)
        }
    }
}
