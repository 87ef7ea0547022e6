import ApplianceTestSupport
import HTTPServer
import Platform
import Testing

@testable import Appliance
@testable import Control

@Suite("Web: which requests are taken")
struct WebGuardTests {
    private let guardian = WebGuard(names: ["kitchen.fritz.box"], acceptsAll: false, token: "secret")

    private func refusal(
        _ headers: [String: String] = [:], method: String = "GET", host: String? = "192.168.1.5:8080",
        isPrivate: Bool = true
    ) -> String? {
        var headers = headers
        headers["host"] = host
        let request = HTTPRequest(method: method, path: "/api/play", headers: headers)
        return guardian.refusal(of: request, isPrivate: isPrivate)?.code
    }

    @Test(
        "A host that only this machine can have is taken",
        arguments: [
            "192.168.1.5", "192.168.1.5:80", "[fe80::1]:8080", "[::1]", "localhost:8080", "kitchen", "kitchen.",
            "Kitchen.local", "kitchen.local.:80", "a.home.arpa", "a.internal", "KITCHEN.fritz.box:80",
        ])
    func ownHosts(host: String) { #expect(refusal(host: host) == nil) }

    @Test(
        "Another host is refused: its owner may let it point here (DNS rebinding)",
        arguments: [
            nil, "", "evil.example", "evil.example:8080", "kitchen.local.evil.example", "192.168.1.5.evil.example",
            ".local", "fritz.box", "[evil.example]", "[::1", ":80", "evil.example.",
        ])
    func foreignHosts(host: String?) { #expect(refusal(host: host) == "host") }

    @Test("Requests of another site's page are refused, whatever they ask for")
    func origins() {
        #expect(refusal(["origin": "http://evil.example"]) == "origin")
        #expect(refusal(["origin": "null"]) == "origin")
        // A proxy has TLS.
        #expect(refusal(["origin": "https://192.168.1.5:8080"]) == nil)
        #expect(refusal(["origin": "http://192.168.1.5"]) == "origin")
        #expect(refusal(["origin": "http://192.168.1.5:8080"]) == nil)
        #expect(
            refusal(["origin": "http://evil.example", "content-type": "application/json"], method: "POST") == "origin")
    }

    @Test("A request that changes something needs JSON, and in a browser the token")
    func tokens() {
        let origin = "http://192.168.1.5:8080"
        #expect(refusal(method: "POST") == "media-type")
        #expect(refusal(["content-type": "text/plain"], method: "POST") == "media-type")
        #expect(refusal(["content-type": "application/x-www-form-urlencoded"], method: "POST") == "media-type")
        #expect(refusal(["content-type": "application/jsonp"], method: "POST") == "media-type")
        #expect(refusal(["content-type": "Application/JSON; charset=utf-8"], method: "POST") == nil)
        #expect(refusal(["content-type": "application/json", "origin": origin], method: "POST") == "token")
        #expect(
            refusal(["content-type": "application/json", "sec-fetch-site": "same-origin"], method: "POST") == "token")
        for wrong in ["", "secre", "secrets", "SECRET"] {
            let headers = ["content-type": "application/json", "origin": origin, "tonearm-token": wrong]
            #expect(refusal(headers, method: "POST") == "token")
        }
        let right = ["content-type": "application/json", "origin": origin, "tonearm-token": "secret"]
        #expect(refusal(right, method: "POST") == nil)
    }

    @Test("A client outside of the private networks is refused, unless the configuration takes all over TLS")
    func networks() {
        #expect(refusal(isPrivate: false) == "not-private")
        let open = WebGuard(names: [], acceptsAll: true, token: "secret")
        func openRefusal(isSecure: Bool, isPrivate: Bool) -> String? {
            let request = HTTPRequest(path: "/", headers: ["host": "kitchen"], isSecure: isSecure)
            return open.refusal(of: request, isPrivate: isPrivate)?.code
        }
        #expect(openRefusal(isSecure: true, isPrivate: false) == nil)
        #expect(openRefusal(isSecure: false, isPrivate: false) == "not-private")
        #expect(openRefusal(isSecure: false, isPrivate: true) == nil)
    }

    @Test("Over TLS, only the origin with TLS is that of the page")
    func secureOrigins() {
        func refusal(origin: String) -> String? {
            let request = HTTPRequest(path: "/", headers: ["host": "kitchen", "origin": origin], isSecure: true)
            return guardian.refusal(of: request, isPrivate: true)?.code
        }
        #expect(refusal(origin: "https://kitchen") == nil)
        #expect(refusal(origin: "http://kitchen") == "origin")
    }
}
