import Platform
import TestSupport
import Testing

@testable import Network

@Suite(
    "A transfer ends before it goes over a metered link (docs/decisions/metered-by-route.md)", .serialized,
    .enabled(if: NetworkNamespace.isAvailable))
struct MeteredRouteChangeTests: MeteredSuite {
    /// The machine with a network and a monitor that sends it the links.
    // @unchecked: nothing changes after `init`.
    private final class Watched: @unchecked Sendable {
        let machine: TwoLinks<ScriptedServer>
        let network: Network
        private let loop: EventLoop

        /// - Parameter lines: of ip(8), before the monitor begins.
        init?(_ lines: [String], _ script: @escaping @Sendable (ScriptedConnection) -> Void) {
            guard let machine = TwoLinks(script), let network = try? MeteredRouteChangeTests.network(),
                lines.allSatisfy({ NetworkNamespace.ip($0) }), let loop = try? EventLoop()
            else { return nil }
            let monitor = try? LinkMonitor(LinkSettings(), loop: loop) { _ in
                network.routesChanged()
            } changed: {
                network.linkChanged(to: $0)
            }
            guard monitor != nil, (try? NamedThread.start(name: "monitor") { loop.run() }) != nil else { return nil }
            (self.machine, self.network, self.loop) = (machine, network, loop)
        }

        deinit {
            loop.stop()
            network.stop()
        }

        /// Starts a transfer and waits for its first bytes.
        func begin() -> RecordingSink {
            let sink = RecordingSink()
            _ = network.start(request(machine.url(4)), into: sink)
            sink.waitForBytes()
            return sink
        }
    }

    /// Half of each answer; then the connection stays open.
    private static let half: @Sendable (ScriptedConnection) -> Void = { connection in
        while connection.request() != nil { connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf!") }
    }

    @Test(
        "A transfer over the cable ends when its route goes elsewhere, and none of it is on the modem",
        arguments: [
            "link set eth0 down", "route del default via 10.9.0.2", "route add 10.99.0.1/32 via 10.8.0.2",
            "rule add to 10.99.0.0/16 lookup 100", "route add default via 10.8.0.2 metric 10",
        ])
    func change(_ line: String) throws {
        let errors = NetworkNamespace.onThread { () -> [TransferError?]? in
            let lines = [Self.overCable, Self.overModem, "route add default via 10.8.0.2 table 100"]
            guard let watched = Watched(lines, Self.half) else { return nil }
            let sink = watched.begin()
            NetworkNamespace.ip(line)
            let first = sink.waitForEnd()
            let second = watched.network.run(Self.request(watched.machine.url(4))).error
            return [first, second, watched.machine.carriedBytes() == 0 ? nil : .truncated]
        }
        #expect(try #require(errors) == [.connection(.lost), .meteredLink, nil])
    }

    @Test("A change that is about another network ends nothing, and idle connections are not used again")
    func otherChange() throws {
        let counts = NetworkNamespace.onThread { () -> [Int]? in
            guard let watched = Watched([Self.overCable, Self.overModem], Self.half) else { return nil }
            let sink = watched.begin()
            NetworkNamespace.ip("route add 10.77.0.0/16 via 10.8.0.2")
            // The network knows the new link when a later request has ended.
            _ = watched.begin()
            return [sink.endCount, watched.machine.carriedBytes()]
        }
        #expect(try #require(counts) == [0, 0])
    }

    @Test("A monitor reports what decides where packets go, and not each word of a link")
    func reports() throws {
        let counts = NetworkNamespace.onThread { () -> [Int]? in
            guard let machine = TwoLinks(Self.whole), NetworkNamespace.ip(Self.overCable, Self.overModem),
                let loop = try? EventLoop()
            else { return nil }
            let (links, routes, condition) = (Locked(0), Locked(0), Condition())
            let monitor = try? LinkMonitor(LinkSettings(), loop: loop) { _ in
                condition.update { routes.withLock { $0 += 1 } }
            } changed: { _ in
                condition.update { links.withLock { $0 += 1 } }
            }
            guard monitor != nil, (try? NamedThread.start(name: "monitor") { loop.run() }) != nil else { return nil }
            defer { loop.stop() }
            for line in [
                "route add 10.77.0.0/16 via 10.8.0.2", "rule add to 10.78.0.0/16 lookup 100",
                "-6 route add fd77::/64 via fd08::2", "link add br0 type bridge",
            ] {
                let before = routes.value
                NetworkNamespace.ip(line)
                expectSoon(line) { routes.value > before }
            }
            let others = links.value
            NetworkNamespace.ip("link set eth0 down")
            expectSoon("the link") { links.value > others }
            _ = machine
            return [others, links.value]
        }
        #expect(try #require(counts)?.first == 0)
    }
}
