import ApplianceTestSupport
import Foundation
import Platform
import Queue
import Testing

@testable import Appliance
@testable import Control
@testable import Media
@testable import Output
@testable import Playback
@testable import Player

@Suite("docs/control.md matches the code")
struct ControlDocumentTests {
    private let text: String

    init() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        text = try String(contentsOf: root.appending(path: "docs/control.md"), encoding: .utf8)
    }

    private func examples(_ arrow: String) -> [String] {
        text.split(separator: "\n").filter { $0.hasPrefix("    \(arrow) ") }.map { String($0.dropFirst(6)) }
    }

    @Test("Every request that it shows is one, but for the one that shows a mistake")
    func requests() {
        let refused = examples("→").filter {
            if case .failure = RequestLine(.whole(Array($0.utf8))).request { true } else { false }
        }
        #expect(refused == [#"{"id":7,"request":"volume","percent":140}"#])
    }

    @Test("Every request has an example, every event a row, and every field is named")
    func complete() throws {
        let shown = try examples("→").map { try JSONValue.parse($0) }
        for form in RemoteRequest.forms {
            let own = shown.filter { $0["request"]?.string == form.name }
            #expect(!own.isEmpty, "\(form.name) has no example")
            #expect(text.contains("`\(form.name)`"), "\(form.name)")
            for field in form.fields {
                #expect(own.contains { $0[field] != nil }, "no example of \(form.name) has \(field)")
            }
        }
        for name in RemoteEventSet.names { #expect(text.contains("| `\(name)` |"), "\(name)") }
        for name in RemoteRequest.focusNames + RemoteRequest.powerNames + RemoteRequest.repeatNames {
            #expect(text.contains("`\(name)`"), "\(name)")
        }
    }

    @Test("It has every reason for which a request can fail")
    func failures() {
        for reason in RemoteFailure.Reason.allCases { #expect(text.contains("| `\(reason.rawValue)` |"), "\(reason)") }
    }

    @Test("The status in it has the members that a status has, and the table has each of them")
    func status() throws {
        let line = try #require(examples("←").first { $0.contains("\"state\"") })
        let names = ReplyLines.members(DaemonStatus()).map(\.name)
        #expect(try JSONValue.parse(line).members?.map(\.name) == ["id", "ok"] + names)
        let table = try #require(text.split(separator: "### `status`").last?.split(separator: "### `version`").first)
        for name in names { #expect(table.contains("`\(name)`"), "\(name)") }
    }

    @Test("The refusal in it is the one that is given")
    func refusal() throws {
        let line = try #require(examples("←").first { $0.contains("\"ok\":false") })
        guard case .failure(let error) = RequestLine(.whole(Array(examples("→")[0].utf8))).request else {
            Issue.record("the first example is no mistake")
            return
        }
        let given = ReplyLines.refusal(7, code: error.code, error.description)
        #expect(String(decoding: given, as: UTF8.self) == line + "\n")
    }

    @Test("It lists every reason why an entry can fail")
    func reasons() throws {
        let product = QueuedProduct(.track, "/a").mediaProduct(referenceId: "")
        let media: [MediaError] = [
            .notAudio(looksLike: nil), .unsupported(what: ""), .damaged(what: ""), .empty,
        ]
        // The daemon waits for others.
        let device: [DeviceError] = [
            .rateNotSupported(device: "", rate: 1, supported: []),
            .channelsNotSupported(device: "", channels: 1, supported: [2]),
            .sampleFormatNotSupported(device: "", requested: nil), .refused(device: "", code: 1, reason: ""),
        ]
        let codes =
            media.map { PlayerError($0, product).code } + device.map { PlayerError($0).code }
            + [ENOENT, EACCES, EIO].map { PlayerError(SystemError(code: $0, operation: ""), product).code }
        let section = try #require(
            text.split(separator: "The `code` of `failed`").last?.split(separator: "\n## ").first)
        for code in codes { #expect(section.contains("`\(code)`"), "\(code)") }
    }

    @Test("Its limits are those of the code")
    func limits() {
        #expect(LineConnection.lineLimit == 65_536 && text.contains("65,536 bytes"))
        #expect(LineConnection.outputLimit == 256 << 10 && text.contains("256 KiB"))
        #expect(RemoteRequest.pageLimit == 500 && text.contains("from 0 to 500"))
        #expect(PlayQueue.capacity == 100_000 && text.contains("100,000"))
    }
}
