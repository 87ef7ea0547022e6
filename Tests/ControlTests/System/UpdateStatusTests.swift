import ApplianceTestSupport
import Platform
import Testing

@testable import Appliance
@testable import Control

@Suite("Updates by requests: the reports of the system, and the addresses")
struct UpdateStatusTests {
    private func status(_ state: String) -> UpdateStatus { UpdateStatus(state: Array(state.utf8)) }

    @Test("Each mode has its word")
    func words() {
        let modes = ["idle", "downloading", "installing", "installed", "failed"]
        #expect(
            modes.map { status("mode=\($0)\n").mode } == [.idle, .downloading, .installing, .installed, .failed])
        #expect(
            UpdateStatus.Mode.allCases.filter { status("mode=\($0.rawValue)").isRunning } == [
                .downloading, .installing,
            ])
    }

    @Test(
        "The fields of each mode",
        arguments: [
            ("", UpdateStatus()), ("mode=idle\nrunning=0.1.0\n", UpdateStatus(mode: .idle, running: "0.1.0")),
            ("mode=downloading", UpdateStatus(mode: .downloading)),
            (
                "running=1\nmode=downloading\ndone=34\ntotal=100\n",
                UpdateStatus(mode: .downloading, running: "1", progress: .init(done: 34, total: 100))
            ),
            (
                "mode=installing\ndone=9000000000\ntotal=9000000000",
                UpdateStatus(mode: .installing, progress: .init(done: 9_000_000_000, total: 9_000_000_000))
            ),
            ("mode=installed\nversion=0.9\ndone=1\ntotal=2", UpdateStatus(mode: .installed, next: "0.9")),
            (
                "mode=failed\ncode=wrongSignature\ntext=It is wrong: a = b.\nversion=0.9",
                UpdateStatus(
                    mode: .failed, next: "0.9", problem: .init(code: "wrongSignature", text: "It is wrong: a = b."))
            ),
            ("mode=failed", UpdateStatus(mode: .failed, problem: .init(code: "unknown", text: ""))),
            ("mode=idle\ncode=damaged\ntext=x", UpdateStatus(mode: .idle)),
        ] as [(String, UpdateStatus)])
    func modes(state: String, expected: UpdateStatus) {
        #expect(status(state) == expected)
    }

    @Test(
        "A line that is not understood is ignored, and the others count",
        arguments: [
            "", "\n\n", "mode", "=idle", "mode=later", "later=1", "\u{0}\u{FF}", "running=", "running=1.x",
            "running=\(String(repeating: "1.", count: 40))1", "version=", "version=0.9\r", "code=", "code=a b",
            "code=\(String(repeating: "x", count: 41))",
        ])
    func ignored(line: String) {
        let expected = UpdateStatus(mode: .failed, running: "1", problem: .init(code: "unknown", text: ""))
        #expect(status("\(line)\nmode=failed\nrunning=1") == expected)
        #expect(status("mode=failed\nrunning=1\n\(line)") == expected)
    }

    @Test(
        "A progress that cannot be is none",
        arguments: ["done=1", "total=1", "done=2\ntotal=1", "done=-1\ntotal=1", "done=0\ntotal=0", "done=x\ntotal=1"])
    func progress(lines: String) {
        #expect(status("mode=installing\n\(lines)") == UpdateStatus(mode: .installing))
    }

    @Test("A long message is cut, and bytes that are no text do not matter")
    func message() {
        let text = status("mode=failed\ntext=\(String(repeating: "x", count: 5000))").problem?.text
        #expect(text?.utf8.count == UpdateStatus.textLimit)
        let bytes = Array("mode=failed\ntext=a".utf8) + [0xFF, 0x1B] + Array("b".utf8)
        #expect(UpdateStatus(state: bytes).problem?.text == "a\u{FFFD}\u{1B}b")
    }

    // MARK: Addresses

    @Test(
        "An address is passed on as it is",
        arguments: [
            "https://updates.example/kitchen.update", "http://10.0.2.2:8000/it's.update?a=%20&b=\"$(x)\\",
            "https://[::1]/x", "https://" + String(repeating: "x", count: 992),
        ])
    func addresses(text: String) throws {
        let address = try #require(UpdateAddress(text))
        #expect(UpdateRequest.wanted(from: address) == "install\naddress=\(text)\n")
    }

    @Test(
        "Anything else is refused with the form",
        arguments: [
            "", "x", "file:///etc/passwd", "ftp://a/b", "/data/x.update", "--root", "HTTPS://a/b", "https://",
            "http:///",
            "https://a b", "https://a/\\n", "https://a/\\nmode", "https://a/\\u007f", "https://a/é",
            "https://" + String(repeating: "x", count: 993),
        ])
    func badAddresses(text: String) {
        let line = "{\"request\":\"update\",\"address\":\"\(text)\"}"
        guard case .failure(let mistake) = RequestLine(.whole(Array(line.utf8))).request else {
            Issue.record("\(text) is taken")
            return
        }
        #expect(mistake.description.hasPrefix("address: must be an address that begins with https:// or http://"))
        #expect(mistake.description.utf8.count < 150)
    }

    @Test("The address may be left out; another field or type is a mistake")
    func fields() {
        func request(_ fields: String) -> Result<RemoteRequest, RequestMistake> {
            RequestLine(.whole(Array("{\"request\":\"update\"\(fields)}".utf8))).request
        }
        #expect(request("") == .success(.later(.update(.install(from: nil)))))
        for fields in [",\"address\":null", ",\"address\":7", ",\"force\":true"] {
            guard case .failure = request(fields) else {
                Issue.record("\(fields) is taken")
                continue
            }
        }
    }
}
