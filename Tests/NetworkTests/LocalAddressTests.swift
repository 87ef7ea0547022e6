import Foundation
import TestSupport
import Testing

@testable import Network

@Suite("Transfers that must not lead into the local network (docs/decisions/guests.md)")
struct LocalAddressTests {
    @Test("the addresses that are not of the internet")
    func addresses() throws {
        let local = [
            "127.0.0.1", "127.9.9.9", "0.0.0.0", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
            "169.254.169.254", "100.64.0.1", "100.127.255.255", "224.0.0.251", "255.255.255.255", "::1", "::",
            "fe80::1", "fd00::1", "fc00::1", "ff02::fb", "::ffff:127.0.0.1", "::ffff:192.168.1.1", "::ffff:0.0.0.0",
            "64:ff9b::10.0.0.1",
        ]
        for text in local { #expect(try #require(PeerAddress(text, port: 80)).isLocal, "\(text)") }
        let global = [
            "1.1.1.1", "11.0.0.1", "172.15.0.1", "172.32.0.1", "192.167.1.1", "169.253.1.1", "100.63.0.1",
            "100.128.0.1", "223.255.255.255", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::1.1.1.1",
        ]
        for text in global { #expect(try !#require(PeerAddress(text, port: 80)).isLocal, "\(text)") }
    }

    @Test("the hosts that are local by themselves, also in other forms of numbers")
    func hosts() {
        for (url, isLocal) in [
            ("http://192.168.1.1/", true), ("http://[fe80::1]/", true), ("http://2130706433/", true),
            ("http://0x7f.1/", true), ("http://localhost/", true), ("http://NAS/", true), ("http://nas.local./", true),
            ("http://a.home.arpa/", true), ("http://a.internal/", true), ("http://local/", true),
            ("http://1.1.1.1/", false), ("http://updates.example/", false), ("http://updates.localhost/", false),
            ("http://local.example/", false), ("http://.local/", false), ("http://xlocal.com/", false),
        ] {
            guard let host = Network.host(of: url) else { continue }
            #expect(Network.isLocal(host: host) == isLocal, "\(url): \(host)")
        }
    }

    /// Answers `ok`, and redirects `/LOCATION` there.
    private func server() -> ScriptedServer {
        ScriptedServer { connection in
            while let request = connection.request() {
                let path = request.split(separator: " ")[1].dropFirst()
                if path.hasPrefix("http") {
                    connection.send("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: \(path)\r\n\r\n")
                } else {
                    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                }
            }
        }
    }

    private func request(_ url: String, _ localHosts: [String]?) -> TransferRequest {
        var request = TransferRequest(url: url)
        request.localHosts = localHosts
        return request
    }

    @Test("a name that leads there, and a redirect, end the transfer before a request is sent")
    func refused() throws {
        let server = server()
        let network = try Network.forTests()
        // libcurl resolves names below localhost itself.
        let named = "http://updates.localhost:\(server.port)/"
        for (url, hosts, error) in [
            (named, nil, nil), (named, [], .localAddress), (named, ["updates.localhost"], nil),
            (server.url(), [], .localAddress), (server.url(), ["127.0.0.1"], nil),
            (server.url("/\(named)"), ["127.0.0.1"], .localAddress), (server.url("/\(named)"), nil, nil),
            (server.url("/\(server.url())"), ["127.0.0.1"], nil),
        ] as [(String, [String]?, TransferError?)] {
            #expect(network.run(request(url, hosts)).error == error, "\(url) \(hosts ?? ["all"])")
        }
    }

    @Test("a connection that another transfer has opened is not used")
    func openConnection() throws {
        let asked = Locked(0)
        let server = ScriptedServer { connection in
            while connection.request() != nil {
                asked.withLock { $0 += 1 }
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        }
        let network = try Network.forTests()
        let named = "http://updates.localhost:\(server.port)/"
        #expect(network.run(request(named, nil)).error == nil)
        #expect(network.run(request(named, [])).error == .localAddress)
        #expect(server.connectionCount == 1 && asked.withLock { $0 } == 1)
    }

    @Test("a proxy looks up names itself: names and numbers of the local network are not asked of it")
    func proxy() throws {
        let server = server()
        let network = try Network.forTests { $0.proxy = server.url("") }
        #expect(network.run(request("http://updates.example/", [])).error == nil)
        #expect(network.run(request("http://nas.local/", [])).error == .localAddress)
        #expect(network.run(request("http://10.1.1.1/", [])).error == .localAddress)
        #expect(network.run(request("http://nas.local/", ["nas.local"])).error == nil)
    }
}
