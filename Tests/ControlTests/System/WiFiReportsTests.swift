import ApplianceTestSupport
import Platform
import Testing

@testable import Appliance
@testable import Control

@Suite("Wi-Fi: the reports of the system, and the requests to it")
struct WiFiReportsTests {
    private func status(state: String = "", networks: String = "", known: String = "") -> WiFiStatus {
        WiFiStatus(state: Array(state.utf8), networks: Array(networks.utf8), known: Array(known.utf8))
    }

    private func name(_ text: String) -> WiFiName { WiFiName(text: text)! }

    @Test("Each mode, and each problem, has its word")
    func words() {
        let modes = ["off", "connecting", "connected", "access-point", "trying"]
        #expect(
            modes.map { status(state: "mode=\($0)\n").mode } == [.off, .connecting, .connected, .accessPoint, .trying])
        let problems = ["wrong-password", "not-found", "no-address", "refused"]
        #expect(
            problems.map { status(state: "failed=61\nproblem=\($0)").failure?.problem }
                == [.wrongPassword, .notFound, .noAddress, .refused])
    }

    @Test("The whole state")
    func whole() {
        let read = status(
            state: "mode=trying\nssid=686f6d65\naccess-point=Tonearm-1A2B\naddress=10.83.84.1\nfailed=78\n"
                + "problem=not-found\n",
            networks: "-57 wpa2 686f6d65\n-60 open 78\n-61 wpa3 79\n-70 wpa2+wpa3 7a\n-80 other 77\n-90 wpa4 76\n",
            known: "file 686f6d65\npage 78\n")
        var expected = WiFiStatus(state: [], networks: [], known: [])
        expected.mode = .trying
        expected.network = name("home")
        expected.accessPoint = "Tonearm-1A2B"
        expected.address = "10.83.84.1"
        expected.failure = .init(network: name("x"), problem: .notFound)
        expected.networks = [
            .init(name: name("home"), signal: -57, security: .wpa2),
            .init(name: name("x"), signal: -60, security: .open),
            .init(name: name("y"), signal: -61, security: .wpa3),
            .init(name: name("z"), signal: -70, security: .wpa2And3),
            .init(name: name("w"), signal: -80, security: .other),
            .init(name: name("v"), signal: -90, security: .other),
        ]
        expected.known = [
            .init(name: name("home"), canBeForgotten: false), .init(name: name("x"), canBeForgotten: true),
        ]
        #expect(read == expected)
    }

    @Test("Without files nothing is known")
    func nothing() {
        let read = status()
        #expect(read.mode == nil && read.network == nil && read.failure == nil && read.address == nil)
        #expect(read.networks.isEmpty && read.known.isEmpty)
    }

    @Test(
        "A line of the state that is not understood is ignored, and the others count",
        arguments: [
            "", "\n\n", "ssid", "=686f", "ssid=6", "ssid=xy", "ssid=", "later=1", "\u{0}\u{FF}",
            "ssid=" + String(repeating: "61", count: 33), "failed=6", "address=10.83.84", "address=10.83.84.1\r",
            "address=evil.example", "address=::1", "address=", "address=10.83.84.1/x", "access-point=",
            "access-point=" + String(repeating: "x", count: 33),
        ])
    func ignored(line: String) {
        var expected = WiFiStatus(state: [], networks: [], known: [])
        expected.mode = .connected
        #expect(status(state: "\(line)\nmode=connected\n") == expected)
        #expect(status(state: "mode=connected\n\(line)") == expected)
    }

    @Test("A problem without a network is none; a network without a known problem has failed all the same")
    func failures() {
        #expect(status(state: "problem=not-found").failure == nil)
        #expect(status(state: "failed=61\nproblem=new").failure == .init(network: name("a"), problem: nil))
    }

    @Test(
        "A line of a list that is not understood is left out",
        arguments: [
            "", "-57", "-57 wpa2", "-57 wpa2 6", "-57 wpa2 61 62", "x wpa2 61", "-5.7 wpa2 61", "-1000 wpa2 61",
            "99999999999999999999 wpa2 61", "page", "page 6", "both 61", "page 61 62",
        ])
    func listLines(line: String) {
        let read = status(networks: "\(line)\n-1 open 7a", known: "\(line)\nfile 7a")
        #expect(read.networks == [.init(name: name("z"), signal: -1, security: .open)])
        #expect(read.known == [.init(name: name("z"), canBeForgotten: false)])
    }

    @Test("Of a long list the first 64 are taken")
    func longList() {
        let lines = (0..<1000).map { "-57 wpa2 \(hexadecimal(Array("n\($0)".utf8)))\n" }.joined()
        let read = status(networks: lines)
        #expect(read.networks.map(\.name.text) == (0..<64).map { "n\($0)" })
    }

    @Test(
        "A name of any bytes has a text, which means the same bytes",
        arguments: [
            Array("Küche".utf8), [0xFF], [0x61, 0x00, 0x62], [0xEE, 0xBE, 0x80], [0xC3], [0xC3, 0x28, 0xE2, 0x82],
            [UInt8](repeating: 0x80, count: 32),
        ] as [[UInt8]])
    func names(bytes: [UInt8]) throws {
        let name = try #require(WiFiName(bytes))
        #expect(WiFiName(text: name.text) == name)
        let json = try JSONValue.parse(JSONValue.string(name.text).serialized())
        #expect(WiFiName(text: json.string ?? "") == name)
        #expect(WiFiName(hexadecimal: hexadecimal(bytes).utf8) == name)
    }

    @Test("A name has 1 to 32 bytes")
    func lengths() {
        #expect(WiFiName([]) == nil && WiFiName(text: "") == nil)
        #expect(WiFiName(text: String(repeating: "x", count: 32)) != nil)
        #expect(WiFiName(text: String(repeating: "x", count: 33)) == nil)
        #expect(WiFiName(text: String(repeating: "é", count: 17)) == nil)
    }

    @Test("The requests to the system")
    func wanted() {
        let trial = WiFiTrial(name: name("home"), password: Array("secret 1".utf8), isHidden: false)
        #expect(WiFiRequest.connect(trial).wanted == "join\nssid=686f6d65\npassword=7365637265742031\n")
        let hidden = WiFiTrial(name: name("home"), password: nil, isHidden: true)
        #expect(WiFiRequest.connect(hidden).wanted == "join\nssid=686f6d65\nhidden=yes\n")
        #expect(WiFiRequest.forget(name("é")).wanted == "forget\nssid=c3a9\n")
        #expect(WiFiRequest.scan.wanted == "scan\n" && WiFiRequest.status.wanted == nil)
    }

    // MARK: Requests of clients

    private func request(_ fields: String) -> Result<RemoteRequest, RequestMistake> {
        RequestLine(.whole(Array("{\"request\":\"wifi-connect\",\(fields)}".utf8))).request
    }

    @Test(
        "A password of WPA is taken",
        arguments: [
            "12345678", "a b \\\"c\\\\ d", "größer!!", String(repeating: "x", count: 63),
            String(repeating: "0aF", count: 21) + "9",
        ])
    func passwords(password: String) throws {
        guard
            case .success(.later(.wifi(.connect(let trial)))) = request(
                "\"ssid\":\"home\",\"password\":\"\(password)\"")
        else {
            Issue.record("\(password) is refused")
            return
        }
        let text = try JSONValue.parse("\"\(password)\"").string
        #expect(trial == WiFiTrial(name: name("home"), password: Array((text ?? "").utf8), isHidden: false))
    }

    @Test(
        "Another one is refused, and the message does not repeat it",
        arguments: [
            "1234567", "geheim\\n99", "geheim\\u007f99", "geheim\\u000099", String(repeating: "x", count: 64),
            String(repeating: "x", count: 65), String(repeating: "é", count: 32), String(repeating: "x", count: 2000),
        ])
    func badPasswords(password: String) {
        guard case .failure(let mistake) = request("\"ssid\":\"home\",\"password\":\"\(password)\"") else {
            Issue.record("\(password) is taken")
            return
        }
        #expect(mistake.description.hasPrefix("password: must be 8 to 63 bytes"))
        #expect(!mistake.description.contains("geheim") && mistake.description.utf8.count < 150)
    }

    @Test(
        "A request that is wrong names the field",
        arguments: [
            ("\"hidden\":true", "ssid is missing: must be the name of a network, of 1 to 32 bytes"),
            ("\"ssid\":\"\"", "ssid: must be the name of a network, of 1 to 32 bytes"),
            ("\"ssid\":7", "ssid: must be the name of a network, of 1 to 32 bytes"),
            ("\"ssid\":\"123456789012345678901234567890123\"", "ssid: must be the name of a network, of 1 to 32 bytes"),
            ("\"ssid\":\"a\",\"hidden\":1", "hidden: must be true or false"),
            ("\"ssid\":\"a\",\"password\":12345678", "password: must be 8 to 63 bytes"),
            ("\"ssid\":\"a\",\"key\":\"12345678\"", "unknown field key. Fields: ssid, password, hidden"),
        ])
    func mistakes(fields: String, message: String) {
        guard case .failure(let mistake) = request(fields) else {
            Issue.record("\(fields) is taken")
            return
        }
        #expect(mistake.description.hasPrefix(message), "\(mistake.description)")
    }
}
