import Network
import TestSupport
import Testing

@Suite("TLS")
struct TLSTests {
    private let nginx: Nginx

    init() throws { nginx = try Nginx.shared.get() }

    @Test("a verified server is one that a known authority vouches for")
    func verified() throws {
        let (sink, error) = try Network.forTests().run(nginx.secureURL("/file"))
        #expect(error == nil)
        #expect(sink.body == nginx.file)
        #expect(sink.response?.isVerifiedTLS == true)
    }

    @Test(
        "another certificate is refused, and the error says why",
        arguments: [
            (.expired, .expired), (.future, .notYetValid), (.otherHost, .hostName),
            (.otherAuthority, .unknownAuthority),
        ] as [(TestCertificates.Kind, TLSFailure)])
    func refused(kind: TestCertificates.Kind, failure: TLSFailure) throws {
        let (sink, error) = try Network.forTests().run(nginx.secureURL("/file", kind))
        #expect(error == .tls(failure))
        #expect(sink.response == nil)
    }

    @Test("a private authority counts beside the others")
    func privateAuthority() throws {
        let network = try Network.forTests { $0.extraCAFile = nginx.certificates.stranger }
        #expect(network.run(nginx.secureURL("/small", .otherAuthority)).sink.text == "small")
        #expect(network.run(nginx.secureURL("/small")).sink.text == "small")
    }

    @Test("the authorities of the system do not count when others are configured")
    func otherAuthorities() throws {
        let network = try Network.forTests { $0.caFile = nginx.certificates.stranger }
        #expect(network.run(nginx.secureURL("/small")).error == .tls(.unknownAuthority))
    }

    @Test("a host with pins must have one of these keys")
    func pins() throws {
        let good = try nginx.certificates.pin(of: .good)
        let other = try nginx.certificates.pin(of: .expired)
        for (keys, host, error) in [
            ([good], "localhost", nil), ([other, good], "LOCALHOST", nil), ([other], "localhost", .tls(.pin)),
            ([other], "elsewhere.example", nil),
        ] as [([String], String, TransferError?)] {
            let pin = try #require(HostPin(host: host, keys: keys))
            let network = try Network.forTests { $0.pins = [pin] }
            #expect(network.run(nginx.secureURL("/small")).error == error)
        }
    }

    @Test("a pin holds when a redirect leads to its host")
    func pinOfRedirect() throws {
        let pin = try #require(HostPin(host: "localhost", keys: [try nginx.certificates.pin(of: .expired)]))
        let network = try Network.forTests { $0.pins = [pin] }
        #expect(network.run(nginx.url("/to-secure")).error == .tls(.pin))
    }

    @Test("a pin does not make a bad certificate good")
    func pinOfExpired() throws {
        let pin = try #require(HostPin(host: "localhost", keys: [try nginx.certificates.pin(of: .expired)]))
        let network = try Network.forTests { $0.pins = [pin] }
        #expect(network.run(nginx.secureURL("/small", .expired)).error == .tls(.expired))
    }

    @Test("a second connection resumes the session of the first")
    func resumption() throws {
        let network = try Network.forTests()
        let request = TransferRequest(
            url: nginx.secureURL("/session"), headers: [HeaderField("Connection", "close")])
        #expect(network.run(request).sink.text == ". TLSv1.3")
        #expect(network.run(request).sink.text == "r TLSv1.3")
    }

    @Test("a server that does not speak TLS")
    func noTLS() throws {
        let server = ScriptedServer { connection in
            _ = connection.bytes()
            connection.send("HTTP/1.1 400 Bad Request\r\n\r\n")
        }
        let (_, error) = try Network.forTests().run(server.url(scheme: "https"))
        guard case .tls(.handshake) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("configured authorities that cannot be read, or are none, are errors that name the file")
    func authorities() throws {
        var settings = try NetworkSettings.forTests { $0.extraCAFile = "/nonexistent/authorities" }
        let missing = #expect(throws: NetworkSetupError.self) { try Network(settings) }
        #expect(missing?.description.contains("/nonexistent/authorities") == true)
        settings.extraCAFile = "/etc/passwd"
        #expect(throws: NetworkSetupError.noAuthority(file: "/etc/passwd")) { try Network(settings) }
    }

    @Test("a system without authorities trusts none; a configured one counts all the same")
    func systemWithoutAuthorities() throws {
        let bare = try Network.forTests { $0.caFile = "/nonexistent/authorities" }
        #expect(bare.run(nginx.secureURL("/small")).error == .tls(.unknownAuthority))
        let configured = try Network.forTests {
            $0.caFile = "/nonexistent/authorities"
            $0.extraCAFile = nginx.certificates.authority
        }
        #expect(configured.run(nginx.secureURL("/small")).sink.text == "small")
    }
}
