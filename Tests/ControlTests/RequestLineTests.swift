import ApplianceTestSupport
import Platform
import Queue
import Testing

@testable import Appliance
@testable import Control

@Suite("A line of a control client is a request, or says why it is none")
struct RequestLineTests {
    private func read(_ text: String) -> RequestLine { RequestLine(.whole(Array(text.utf8))) }

    static let requests: [(String, RemoteRequest)] = [
        (#"{"request":"status"}"#, .immediate(.status)),
        (#"{"request":"subscribe"}"#, .subscribe(.all)),
        (#"{"request":"subscribe","events":["state","position"]}"#, .subscribe([.state, .position])),
        (#"{"request":"unsubscribe","events":[]}"#, .unsubscribe([])),
        (#"{"request":"play"}"#, .immediate(.play(nil))),
        (#"{"request":"play","entry":7}"#, .immediate(.play(.id(EntryID(7))))),
        (#"{"request":"play","index":0}"#, .immediate(.play(.index(0)))),
        (#"{"request":"toggle"}"#, .immediate(.command(.toggle))),
        (#"{"request":"seek","position":12.5}"#, .immediate(.seek(.to(12.5)))),
        (#"{"request":"seek","offset":-10}"#, .immediate(.seek(.by(-10)))),
        (#"{"request":"volume","percent":40}"#, .immediate(.volume(.to(40)))),
        (#"{"request":"volume","change":-4}"#, .immediate(.volume(.by(-4)))),
        (#"{"request":"mute"}"#, .immediate(.mute(nil))),
        (#"{"request":"mute","on":false}"#, .immediate(.mute(false))),
        (#"{"request":"shuffle"}"#, .immediate(.shuffle(nil))),
        (#"{"request":"volume-up"}"#, .immediate(.command(.volumeUp))),
        (#"{"request":"power-off"}"#, .immediate(.command(.powerOff))),
        (#"{"request":"repeat","mode":"one"}"#, .immediate(.repeatMode(.one))),
        (#"{"request":"queue"}"#, .immediate(.queue(from: 0, count: 500))),
        (
            #"{"request":"queue-set","products":[{"path":"/a"},{"path":"/b"}],"index":1,"play":true}"#,
            .music(["/a", "/b"], for: .queue(.all(start: 1, plays: true)))
        ),
        (#"{"request":"queue-collect","products":[{"path":"/a"}]}"#, .music(["/a"], for: .collection)),
        (#"{"request":"queue-insert","products":[{"path":"/a"}]}"#, .music(["/a"], for: .queue(.next))),
        (#"{"request":"queue-insert","products":[{"path":"/a"}],"index":3}"#, .music(["/a"], for: .queue(.index(3)))),
        (#"{"request":"queue-move","entry":2,"index":0}"#, .immediate(.queueMove(EntryID(2), to: 0))),
        (#"{"request":"queue-remove","entries":[2,3]}"#, .immediate(.queueRemove(.ids([EntryID(2), EntryID(3)])))),
        (#"{"request":"queue-remove","from":2,"count":3}"#, .immediate(.queueRemove(.range(from: 2, count: 3)))),
        (#"{"request":"queue-remove","from":2}"#, .immediate(.queueRemove(.range(from: 2, count: 1)))),
        (#"{"request":"focus","level":"background","hold":true}"#, .immediate(.focus(.background, isHeld: true))),
        (#"{"request":"power","state":"resigning"}"#, .immediate(.power(.resigning))),
        (#"{"request":"config-get"}"#, .immediate(.configurationGet(nil))),
        (
            #"{"request":"config-set","key":"audio.buffer","value":"100 ms"}"#,
            .immediate(.configurationSet(.buffer, "100 ms"))
        ),
        (#"{"request":"system","action":"power-off"}"#, .immediate(.command(.powerOff))),
    ]

    @Test("Requests", arguments: requests)
    func request(text: String, request: RemoteRequest) { #expect(read(text).request == .success(request)) }

    @Test("An old form is accepted, and the notice says what to use instead")
    func oldForms() {
        #expect(read(#"{"request":"system","action":"power-off"}"#).notice?.contains("power-off") == true)
        #expect(read(#"{"request":"power-off"}"#).notice == nil)
        #expect(!RemoteRequest.names.contains("system"))
    }

    @Test("A message repeats only the beginning of a long name, and suggests nothing for it")
    func longNames() {
        func messages(_ length: Int) -> [String?] {
            let name = "puase" + String(repeating: "e", count: length)
            return [
                #"{"request":"\#(name)"}"#, #"{"request":"pause","\#(name)":1}"#,
                #"{"request":"config-get","key":"\#(name)"}"#,
            ].map { text in
                if case .failure(let error) = read(text).request { error.description } else { nil }
            }
        }
        let long = messages(60_000)
        #expect(long == messages(2000))
        #expect(long.allSatisfy { $0?.contains("did you mean") == false })
    }

    static let mistakes: [(String, String, String)] = [
        ("{", "bad-json", "not JSON: line 1, column 1: "),
        ("[]", "bad-request", "a request is an object with a field request"),
        (#"{"request":7}"#, "bad-request", "a request is an object with a field request"),
        (#"{"id":[],"request":"status"}"#, "bad-request", "id: must be a string or a number"),
        (#"{"request":"puase"}"#, "bad-request", "unknown request puase; did you mean pause?"),
        (#"{"request":"pause","now":true}"#, "bad-request", "unknown field now. This request has none"),
        (#"{"request":"seek","positoin":1}"#, "bad-request", "unknown field positoin. Fields: position, offset"),
        (#"{"request":"seek"}"#, "bad-request", "needs one of position and offset"),
        (#"{"request":"seek","position":1,"offset":1}"#, "bad-request", "needs one of position and offset"),
        (#"{"request":"seek","position":-1}"#, "bad-request", "position: must be a number of seconds from 0 on"),
        (#"{"request":"seek","position":"1"}"#, "bad-request", "position: must be a number of seconds"),
        (#"{"request":"volume","percent":101}"#, "bad-request", "percent: must be a whole number from 0 to 100"),
        (#"{"request":"volume","percent":1.5}"#, "bad-request", "percent: must be a whole number from 0 to 100"),
        (#"{"request":"mute","on":1}"#, "bad-request", "on: must be true or false"),
        (#"{"request":"shuffle","on":1}"#, "bad-request", "on: must be true or false"),
        (#"{"request":"repeat","mode":"two"}"#, "bad-request", "mode: must be one of off, all, one"),
        (#"{"request":"queue-add","products":[]}"#, "bad-request", "products: must be a list of products"),
        (
            #"{"request":"queue-add","products":[{"path":"a"}]}"#, "bad-request",
            "products[0].path: must be an absolute path"
        ),
        (
            #"{"request":"queue-add","products":[{"path":"/a"},{"file":"/b"}]}"#, "bad-request",
            "unknown field products[1].file. Fields: path"
        ),
        (#"{"request":"queue-remove","entries":[0]}"#, "bad-request", "entries: must be the id of an entry"),
        (#"{"request":"queue-remove"}"#, "bad-request", "needs one of entries and from"),
        (#"{"request":"queue","count":501}"#, "bad-request", "count: must be a whole number from 0 to 500"),
        (
            #"{"request":"subscribe","events":["states"]}"#, "bad-request",
            "events: must be a list of names: state, track,"
        ),
        (
            #"{"request":"config-get","key":"audio.bufer"}"#, "bad-setting",
            "no setting audio.bufer; did you mean audio.buffer?"
        ),
        (#"{"request":"status","request":"stop"}"#, "bad-json", "not JSON"),
        (#"{"id":9223372036854775808,"request":"status"}"#, "bad-json", "not JSON: line 1, column 25: too big integer"),
        (#"{"id":1e999,"request":"status"}"#, "bad-json", "not JSON: line 1, column 11: real number overflow"),
        (
            String(repeating: "[", count: 100) + String(repeating: "]", count: 100), "bad-json",
            "not JSON: nested deeper"
        ),
    ]

    @Test("Mistakes name the field and what is allowed", arguments: mistakes)
    func mistake(text: String, code: String, beginning: String) {
        guard case .failure(let error) = read(text).request else {
            Issue.record("\(text) is taken")
            return
        }
        #expect(error.code == code)
        #expect(error.description.hasPrefix(beginning), "\(error.description)")
    }

    @Test(
        "A mistake has the id of its request too, if the id can be read",
        arguments: [
            (#"{"id":"x","request":"status"}"#, JSONValue.string("x")), (#"{"request":"nope","id":1.5}"#, .real(1.5)),
            (#"{"id":9223372036854775807,"request":"status"}"#, .integer(.max)),
            (#"{"id":-9223372036854775808,"request":"status"}"#, .integer(.min)),
            (#"{"id":9223372036854775808,"request":"status"}"#, .null),
            (#"{"id":1e30,"request":"status"}"#, .real(1e30)),
            (#"{"id":{},"request":"status"}"#, .null), (#"{"request":"status"}"#, .null), ("nonsense", .null),
        ])
    func identity(text: String, id: JSONValue) { #expect(read(text).id == id) }
}

@Suite("Bytes into lines")
struct LineSplitterTests {
    /// Lines of at most five bytes; `!` stands for one that is too long.
    private func lines(_ chunks: [String], isFinished: Bool = false) -> [String] {
        var splitter = LineSplitter(limit: 5)
        var lines: [String] = []
        func take(_ line: LineSplitter.Line) {
            if case .whole(let bytes) = line {
                lines.append(String(decoding: bytes, as: UTF8.self))
            } else {
                lines.append("!")
            }
        }
        for chunk in chunks {
            Array(chunk.utf8).withUnsafeBytes { splitter.append($0) }
            while let line = splitter.next() { take(line) }
            #expect(splitter.count <= 5)
        }
        if isFinished, let line = splitter.finish() { take(line) }
        return lines
    }

    @Test(
        "However they arrive",
        arguments: [
            ["a\nbb\nccc\n"], ["a", "\n", "bb\nc", "cc", "\n"], ["a\r\nbb\r\n\r\nccc\r\n"], ["\n\na\n\nbb\nccc\n"],
        ])
    func chunks(chunks: [String]) { #expect(lines(chunks) == ["a", "bb", "ccc"]) }

    @Test(
        "A line may have just as many bytes as allowed; a longer one is skipped to its end",
        arguments: [
            (["12345\n"], ["12345"]), (["123456\n"], ["!"]), (["12345", "6\n", "a\n"], ["!", "a"]),
            (["1234567", "89", "0\na\n"], ["!", "a"]), (["1234567890123\nb\n123456\nc\n"], ["!", "b", "!", "c"]),
        ])
    func limit(chunks: [String], expected: [String]) { #expect(lines(chunks) == expected) }

    @Test(
        "The rest at the end is a line",
        arguments: [
            (["a\nbb"], ["a", "bb"]), (["a\n"], ["a"]), (["1234567", "8"], ["!"]), ([""], []),
        ])
    func end(chunks: [String], expected: [String]) { #expect(lines(chunks, isFinished: true) == expected) }
}
