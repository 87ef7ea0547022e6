import Foundation
import Platform
import TestSupport
import Testing

@testable import Network

@Suite("The link: what a change does", .serialized)
struct LinkChangeTests {
    /// A `Network` and a monitor that sends it the links, in the calling thread's namespace.
    // @unchecked: after `init`, only `links` changes, which has a lock.
    private final class Machine: @unchecked Sendable {
        let network: Network
        let links = Locked<[Link]>([])
        private let changed = Condition()
        private let loop: EventLoop

        /// - Parameter interface: waits until it is the link.
        init(waitingFor interface: String = "near") throws {
            var settings = NetworkSettings { 1_800_000_000 }
            settings.caFile = try Nginx.shared.get().certificates.authority
            (settings.connectTimeout, settings.firstByteTimeout, settings.silenceTimeout) = (600_000, 600_000, 600_000)
            network = try Network(settings)
            loop = try EventLoop()
            let monitor = try LinkMonitor(LinkSettings(), loop: loop) { [network, links, changed] link in
                network.linkChanged(to: link)
                changed.update { links.withLock { $0.append(link) } }
            }
            links.withLock { $0.append(monitor.link) }
            let loop = loop
            _ = try NamedThread.start(name: "monitor") { loop.run() }
            waitForLink { $0.interface == interface }
        }

        var link: Link { links.withLock { $0[$0.count - 1] } }

        func waitForLink(_ isExpected: (Link) -> Bool) {
            expectSoon("the link") { changed.update { isExpected(link) } }
        }

        deinit {
            loop.stop()
            network.stop()
        }
    }

    /// Every request is answered with half of its body, and the connection stays open.
    private static let half: @Sendable (ScriptedConnection) -> Void = { connection in
        while connection.request() != nil { connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf!") }
    }

    @Test("A monitor reports a cable that is pulled out and plugged in", .enabled(if: NetworkNamespace.isAvailable))
    func cable() throws {
        let kinds = NetworkNamespace.onThread { () -> [Link.Kind]? in
            guard let cable = Cable(Self.half), let machine = try? Machine() else { return nil }
            let first = machine.link
            Cable.pullOut()
            machine.waitForLink { $0.isOffline }
            Cable.plugIn()
            machine.waitForLink { $0.interface == "near" }
            _ = cable
            return [first.kind, .offline, machine.link.kind]
        }
        #expect(try #require(kinds) == [.ethernet, .offline, .ethernet])
    }

    @Test(
        "A transfer ends when its link goes, long before its limit of time",
        .enabled(if: NetworkNamespace.isAvailable))
    func transferOfLostLink() throws {
        let error = NetworkNamespace.onThread { () -> TransferError? in
            guard let cable = Cable(Self.half), let machine = try? Machine() else { return nil }
            let sink = RecordingSink()
            _ = machine.network.start(TransferRequest(url: cable.server.url()), into: sink)
            sink.waitForBytes()
            Cable.pullOut()
            return sink.waitForEnd()
        }
        #expect(try #require(error) == .connection(.lost))
    }

    @Test("A connection that is not of the link that went goes on", .enabled(if: NetworkNamespace.isAvailable))
    func otherConnection() throws {
        let body = NetworkNamespace.onThread { () -> [UInt8]? in
            let finishes = DispatchSemaphore(value: 0)
            let local = ScriptedServer { connection in
                _ = connection.request()
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf!")
                finishes.waitInTime()
                connection.send("whole")
            }
            guard let cable = Cable(Self.half), let machine = try? Machine() else { return nil }
            let sink = RecordingSink()
            _ = machine.network.start(TransferRequest(url: local.url()), into: sink)
            sink.waitForBytes()
            Cable.pullOut()
            machine.waitForLink { $0.isOffline }
            finishes.signal()
            _ = cable
            return sink.waitForEnd() == nil ? sink.body : nil
        }
        #expect(try #require(body) == Array("half!whole".utf8))
    }

    @Test(
        "A wait for the network ends when a link comes, and not when one goes",
        .enabled(if: NetworkNamespace.isAvailable))
    func wait() throws {
        let ends = NetworkNamespace.onThread { () -> [LinkWaitEnd]? in
            guard let cable = Cable(Self.half), let machine = try? Machine() else { return nil }
            Cable.pullOut()
            machine.waitForLink { $0.isOffline }
            let condition = Condition()
            let ends = Locked<[LinkWaitEnd]>([])
            machine.network.waitForLink(atMost: .max) { end in condition.update { ends.withLock { $0.append(end) } } }
            Cable.plugIn()
            expectSoon("the end of the wait") { ends.withLock { !$0.isEmpty } }
            _ = cable
            return ends.withLock { $0 }
        }
        #expect(try #require(ends) == [.linkChanged])
    }

    @Test("After a change no idle connection is used again; transfers that go on keep theirs")
    func idleConnections() throws {
        let server = ScriptedServer { connection in
            while connection.request() != nil { connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") }
        }
        let network = try Network.forTests()
        for _ in 0..<2 { #expect(network.run(server.url()).sink.text == "ok") }
        #expect(server.connectionCount == 1)
        network.linkChanged(to: Link(.wifi, interface: "wlan0"))
        for _ in 0..<2 { #expect(network.run(server.url()).sink.text == "ok") }
        #expect(server.connectionCount == 2)
    }

    @Test("A transfer that waits for a connection ends, to be tried on the new link")
    func connecting() throws {
        let network = try Network.forTests { $0.maximumConnectionsPerHost = 1 }
        let server = ScriptedServer(Self.half)
        let (first, second) = (RecordingSink(), RecordingSink())
        _ = network.start(TransferRequest(url: server.url()), into: first)
        first.waitForBytes()
        _ = network.start(TransferRequest(url: server.url()), into: second)
        network.linkChanged(to: Link(.wifi, interface: "wlan0"))
        #expect(second.waitForEnd() == .connection(.lost))
    }

    @Test("A thread that waits goes on when another link comes, also when it came before the wait")
    func blockingWait() throws {
        let network = try Network.forTests()
        let cancellation = try Cancellation()
        func wait(since seen: UInt32, seconds: Int64) -> LinkWaitEnd? {
            network.waitForLink(since: seen, atMost: seconds * 1_000_000_000, cancellation: cancellation)
        }
        let seen = network.linkChanges
        network.linkChanged(to: Link(.wifi, interface: "wlan0"))
        #expect(wait(since: seen, seconds: 3600) == .linkChanged)
        #expect(network.linkChanges != seen)
        let now = network.linkChanges
        #expect(wait(since: now, seconds: 0) == .timeElapsed)
        // Another thread, so that it may come before the wait or in it.
        Thread.detachNewThread { network.linkChanged(to: Link(.ethernet, interface: "eth0")) }
        #expect(wait(since: now, seconds: 3600) == .linkChanged)
        cancellation.cancel()
        #expect(wait(since: network.linkChanges, seconds: 3600) == nil)
    }

    @Test("A wait has a limit")
    func limit() throws {
        let network = try Network.forTests()
        let condition = Condition()
        let ends = Locked<[LinkWaitEnd]>([])
        network.waitForLink(atMost: 1_000_000) { end in condition.update { ends.withLock { $0.append(end) } } }
        expectSoon("the end of the wait") { ends.withLock { !$0.isEmpty } }
        #expect(ends.withLock { $0 } == [.timeElapsed])
        network.stop()
    }
}
