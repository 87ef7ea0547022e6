import ApplianceTestSupport
import Database
import Dispatch
import OfflineTestSupport
import Platform
import TestSupport
import Testing

@testable import Appliance
@testable import Control
@testable import Offline
@testable import Playback
@testable import Player

@Suite("The largest values of requests, and the longest answers (docs/control.md, \"Lines\")")
struct RequestLimitsTests {
    private static let lineLimit = 65_536

    // MARK: Values in a line

    private func refusal(_ line: String) -> String? {
        guard case .failure(let mistake) = RequestLine(.whole(Array(line.utf8))).request else { return nil }
        return mistake.description
    }

    @Test(
        "A text of a request is bounded, and the error names the field and the limit",
        arguments: [
            (#"{"request":"offline-add","products":[{"path":"tonearm:track/%"}]}"#, 256, "products[0].path"),
            (#"{"request":"offline-remove","products":[{"path":"tonearm:track/%"}]}"#, 256, "products[0].path"),
            (#"{"request":"offline-cancel","products":[{"path":"tonearm:track/%"}]}"#, 256, "products[0].path"),
            (#"{"request":"offline-pause","products":[{"path":"tonearm:video/%"}]}"#, 256, "products[0].path"),
            (#"{"request":"offline-resume","products":[{"path":"tonearm:track/%"}]}"#, 256, "products[0].path"),
            (#"{"request":"queue-add","products":[{"path":"tonearm:track/%"}]}"#, 256, "products[0].path"),
            (#"{"request":"queue-collect","products":[{"path":"/a"},{"path":"/%"}]}"#, 4094, "products[1].path"),
            (#"{"request":"offline-verify","product":"tonearm:track/%"}"#, 256, "product"),
            (#"{"request":"offline-items","after":"%"}"#, 1024, "after"),
            (
                #"{"request":"loudness-known","files":[{"path":"/%","size":1,"modified":1}]}"#, 4094, "files[0].path"
            ),
            (#"{"request":"config-set","key":"audio.device","value":"%"}"#, 1024, "value"),
            (#"{"request":"status","id":"%"}"#, 1024, "id"),
        ] as [(String, Int, String)])
    func texts(_ line: String, _ limit: Int, _ field: String) throws {
        func with(_ count: Int) -> String {
            line.split(separator: "%").joined(separator: String(repeating: "x", count: count))
        }
        #expect(refusal(with(limit)) == nil)
        let message = try #require(refusal(with(limit + 1)))
        #expect(message.hasPrefix("\(field): must be ") && message.contains(limit == 4094 ? "4095" : "\(limit)"))
        #expect(message.utf8.count < 200)
    }

    @Test("A path is measured by the bytes of its name, not of its text")
    func escapedPath() {
        let path = "/" + String(repeating: "\u{EFE9}", count: 4094)
        #expect(refusal(#"{"request":"queue-add","products":[{"path":"\#(path)"}]}"#) == nil)
        #expect(refusal(#"{"request":"queue-add","products":[{"path":"\#(path)x"}]}"#)?.contains("4095") == true)
    }

    // MARK: Pages

    private func entries(_ count: Int, title: String) -> [OfflineEntry] {
        (1...count).map { number in
            let product = "tonearm:track/" + String(repeating: "\u{7F}", count: 250) + "\(1000 + number)"
            var entry = OfflineEntry(
                product: product, number: Int64(number), referenceId: "r", status: .failed(reason: title),
                bytes: .max, audioQuality: .hiResLossless)
            entry.title = title
            entry.artist = title
            entry.receivedProduct = product
            return entry
        }
    }

    @Test("Pages of downloads and of offline copies fit into a line, and follow each other", arguments: [true, false])
    func pages(ofDownloads: Bool) throws {
        let all = entries(100, title: String(repeating: "é\"", count: 300))
        var (rest, seen, count) = (all[...], [String?](), 0)
        while !rest.isEmpty {
            let reply: DownloadReply = ofDownloads ? .downloads(Array(rest), next: nil) : .items(Array(rest), next: nil)
            let line = ReplyLines.reply(.string(String(repeating: "\u{7F}", count: 1024)), .download(reply))
            #expect(line.count <= Self.lineLimit + 1)
            let json = try JSONValue.parse(String(decoding: line, as: UTF8.self))
            let page = try #require(json["entries"]?.elements)
            try #require(!page.isEmpty)
            seen += page.map { $0["product"]?.string }
            rest = all[seen.count...]
            let next: JSONValue =
                rest.isEmpty
                ? .null : ofDownloads ? .integer(all[seen.count - 1].number!) : .string(all[seen.count - 1].product)
            #expect(json["next"] == next)
            count += 1
        }
        #expect(seen == all.map(\.product) && count > 3)
    }

    @Test("Texts of an answer that is too long are cut, and its id is not")
    func longTexts() throws {
        let text = String(repeating: "\u{1}", count: 100_000)
        let id = JSONValue.string(String(repeating: "i", count: 256))
        for line in [
            ReplyLines.reply(id, .download(.items(entries(1, title: text), next: "n"))),
            ReplyLines.refusal(id, code: "system", text), ReplyLines.reply(id, .download(.unreadable(reason: text))),
        ] {
            #expect(line.count <= Self.lineLimit + 1)
            #expect(try JSONValue.parse(String(decoding: line, as: UTF8.self))["id"] == id)
        }
    }

    // MARK: Every request

    /// Each request with the largest values that fit into a line; nil for those that run a command of the system.
    private static let largest: [String: String?] = {
        func products(_ path: (Int) -> String) -> String {
            var (list, number) = ("", 0)
            while list.utf8.count < 58_000 {
                list += "\(number == 0 ? "" : ","){\"path\":\"\(path(number))\"}"
                number += 1
            }
            return "\"products\":[\(list)]"
        }
        func files(_ path: String, _ gains: String) -> String {
            var (list, number) = ("", 0)
            while list.utf8.count < 55_000 {
                list += "\(number == 0 ? "" : ","){\"path\":\"\(path)\(number)\",\"size\":9223372036854775807,"
                list += "\"modified\":-9223372036854775808\(gains)}"
                number += 1
            }
            return "\"files\":[\(list)]"
        }
        let long = String(repeating: "\\u007f", count: 240)
        let many = products { "tonearm:track/\($0)" }
        let longest = products { "tonearm:track/\(long)\($0)" }
        let ids = (1...7000).map { "\($0 + 4_000_000)" }.joined(separator: ",")
        let events = Array(repeating: "\"position\"", count: 5000).joined(separator: ",")
        return [
            "status": "", "version": "", "events": "", "subscribe": "\"events\":[\(events)]",
            "unsubscribe": "\"events\":[\(events)]",
            "play": "\"entry\":4294967295", "pause": "", "toggle": "", "stop": "", "next": "", "previous": "",
            "seek": "\"position\":1e308", "volume": "\"percent\":100", "mute": "", "volume-up": "", "volume-down": "",
            "shuffle": "", "repeat": "\"mode\":\"all\"", "queue": "\"from\":0,\"count\":500", "queue-collect": many,
            "queue-set": many, "queue-add": longest, "queue-insert": longest + ",\"index\":9223372036854775807",
            "queue-move": "\"entry\":4294967295,\"index\":9223372036854775807", "queue-remove": "\"entries\":[\(ids)]",
            "queue-clear": "", "focus": "\"level\":\"full\",\"hold\":true", "power": "\"state\":\"active\"",
            "config-get": "",
            "config-set": "\"key\":\"audio.mixer-control\",\"value\":\"\(String(repeating: "\\u0001", count: 1024))\"",
            "config-unset": "\"key\":\"audio.mixer-control\"", "network-restart": nil, "restart": nil, "power-off": nil,
            "devices": "", "machine": "",
            "service-status": "", "service-login": "", "service-cancel": "", "service-logout": "",
            "wifi-status": "", "wifi-scan": "",
            "wifi-forget": "\"ssid\":\"\(String(repeating: "\u{EFFF}", count: 32))\"",
            "wifi-connect": "\"ssid\":\"\(String(repeating: "x", count: 32))\",\"hidden\":true,"
                + "\"password\":\"\(String(repeating: "\\\"", count: 63))\"",
            "update-status": "", "update-cancel": "",
            "update": "\"address\":\"https://\(String(repeating: "\\\"", count: 992))\"",
            "system": nil,
            "offline-add": longest + ",\"priority\":1000", "offline-remove": many, "offline-pause": many,
            "offline-cancel": many,
            "offline-resume": longest, "offline-status": "", "offline-jobs": "\"after\":0", "offline-items": "",
            "offline-verify": "\"product\":\"tonearm:track/\(long)\"",
            "library-status": "", "library-scan": "",
            "library-search": "\"words\":\"\(String(repeating: "ab ", count: 80))\"",
            "library-list": "\"list\":\"tracks\",\"of\":\"/\(long)\",\"from\":1000000,\"count\":500",
            "favourite": "\"path\":\"tonearm:track/\(long)\",\"on\":true",
            "playlists": "\"from\":0,\"count\":500", "playlist": "\"name\":\"p\",\"from\":0,\"count\":500",
            "playlist-save": "\"name\":\"\(String(repeating: "x", count: 200))\",\"replace\":true",
            "playlist-add": "\"name\":\"p\"," + longest, "playlist-remove": "\"name\":\"p\",\"from\":0,\"count\":1",
            "playlist-move": "\"name\":\"p\",\"from\":100000,\"index\":0",
            "playlist-rename": "\"name\":\"\(String(repeating: "é", count: 500))\",\"to\":\"q\"",
            "playlist-delete": "\"name\":\"\(String(repeating: "x", count: 200))\"",
            "loudness-known": files("/\(long)", ""),
            "loudness-keep": files(
                "/", ",\"trackGain\":-1e300,\"trackPeak\":1e-300,\"albumGain\":1,\"albumPeak\":null"),
        ]
    }()

    @Test("Each request, with the largest values that it accepts, has an answer that fits into a line")
    func everyRequest() throws {
        let fixture = try RemoteFixture(opensLibrary: true)
        defer { fixture.shutDown() }
        let kept = try OfflineCopies(in: fixture.folder)
        let (engine, loop) = (kept.engine, fixture.loop)
        fixture.withServer { $0.clients.requests.later.downloads = DownloadExecution(engine: engine, loop: loop) }
        let thread = try NamedThread.start(name: "engine") { [loop = kept.loop] in loop.run() }
        defer {
            kept.loop.stop()
            thread.joinOrEndRun()
        }
        let client = try fixture.connect()
        let names = RemoteRequest.forms.map(\.name)
        #expect(Set(names) == Set(Self.largest.keys), "a request is missing here")
        let id = String(repeating: "\\u007f", count: 800)
        // Twice: the second time there is something to list.
        for name in names + names {
            guard let fields = Self.largest[name] ?? nil else { continue }
            let line = "{\"request\":\"\(name)\"\(fields.isEmpty ? "" : ",")\(fields),\"id\":\"\(id)\"}"
            try #require(line.utf8.count <= Self.lineLimit)
            try client.send(line + "\n")
            var reply: JSONValue
            repeat {
                let line = try #require(try client.line())
                #expect(line.utf8.count <= Self.lineLimit, "\(name)")
                reply = try JSONValue.parse(line)
            } while reply["event"] != nil
            #expect(reply["id"]?.string?.utf8.count == 800, "\(name): \(reply)")
        }
    }

    @Test("A line that names thousands of products leaves the engine's thread to others, a few products at a time")
    func turns() throws {
        let folder = try ScratchFolder()
        let kept = try OfflineCopies(in: folder)
        defer { withExtendedLifetime(kept) {} }
        let loop = kept.loop
        var answers: [Result<DownloadReply, RemoteFailure>] = []
        let addresses = (0..<1000).map { "tonearm:track/\($0)" }
        let begun = Recorder<String>()
        kept.engine.inTurns(addresses.map { MediaProduct(productType: .track, productId: $0, referenceId: $0) }) {
            begun.record($0.productId)
        }
        #expect(begun.elements.isEmpty, "the caller does no work")
        let before = Recorder<Int>()
        loop.post { loop.post { before.record(begun.elements.count) } }
        DownloadExecution(engine: kept.engine, loop: loop).perform(.pause(addresses)) {
            answers.append($0)
            loop.stop()
        }
        loop.run()
        #expect(answers == [.success(.changed(count: 0, unchanged: 1000))])
        #expect(begun.elements == addresses)
        #expect((1...64).contains(before.elements[0]), "what is posted then waits for \(before.elements) products")
    }

    @Test("Of many changes during an answer, only the last one asks again")
    func repeatedLook() {
        var look = RepeatedLook()
        let first = look.begin()
        let others = (0..<1000).map { _ in look.begin() }
        #expect(first && !others.contains(true))
        let asksAgain = (look.end(), look.begin())
        #expect(asksAgain == (true, true))
        let isOver = (look.end(), look.begin())
        #expect(isOver == (false, true))
    }

    // MARK: The queue of downloads

    @Test("The queue of downloads has a limit; a request that does not fit into it adds nothing")
    func fullQueue() throws {
        let folder = try ScratchFolder()
        let kept = try OfflineCopies(in: folder, downloads: 5)
        defer { withExtendedLifetime(kept) {} }
        let loop = kept.loop
        func perform(_ request: DownloadRequest) throws -> Result<DownloadReply, RemoteFailure> {
            var answers: [Result<DownloadReply, RemoteFailure>] = []
            DownloadExecution(engine: kept.engine, loop: loop).perform(request) {
                answers.append($0)
                loop.stop()
            }
            loop.run()
            return try #require(answers.first)
        }
        func add(_ ids: Range<Int>) throws -> Result<DownloadReply, RemoteFailure> {
            try perform(.add(ids.map { "tonearm:track/\($0)" }, priority: 0))
        }
        #expect(try add(0..<3) == .success(.changed(count: 3, unchanged: 0)))
        guard case .failure(let failure) = try add(1..<6) else {
            Issue.record("more than five are taken")
            return
        }
        #expect(failure.reason == .queueFull && failure.message.contains("5"))
        #expect(try kept.store.waitToWrite { (rows) throws(DatabaseError) in try rows.count("offline_job") } == 3)
        #expect(try add(1..<5) == .success(.changed(count: 2, unchanged: 2)))
        #expect(try add(0..<5) == .success(.changed(count: 0, unchanged: 5)))
        guard case .failure = try add(5..<6) else {
            Issue.record("more than five are taken")
            return
        }
        #expect(
            try perform(.remove(["tonearm:track/0", "tonearm:track/1"])) == .success(.changed(count: 2, unchanged: 0)))
        #expect(try add(7..<9) == .success(.changed(count: 2, unchanged: 0)))
    }

    @Test("A product with an id that no service has is refused by the engine too")
    func longID() throws {
        let folder = try ScratchFolder()
        let kept = try OfflineCopies(in: folder)
        defer { withExtendedLifetime(kept) {} }
        let product = MediaProduct(
            productType: .track, productId: "tonearm:track/" + String(repeating: "x", count: 257), referenceId: "r")
        let changes = Recorder<OfflineEngine.Change>()
        kept.engine.offline(product) { changes.record($0) }
        guard case .failed(let reason)? = changes.elements.first else {
            Issue.record("\(changes.elements)")
            return
        }
        #expect(reason.contains("256 bytes"))
    }

    // MARK: Checks

    @Test("A check of an offline copy ends when its client leaves")
    func checks() throws {
        let fixture = try RemoteFixture(opensLibrary: true)
        defer { fixture.shutDown() }
        let kept = try OfflineCopies(in: fixture.folder)
        let (engine, loop) = (kept.engine, fixture.loop)
        fixture.withServer { $0.clients.requests.later.downloads = DownloadExecution(engine: engine, loop: loop) }
        // The one that runs cannot begin to read, and stays the first.
        let gate = DispatchSemaphore(value: 0)
        kept.store.storage.perform { gate.waitOrEndRun("the test") }
        let thread = try NamedThread.start(name: "engine") { [loop = kept.loop] in loop.run() }
        defer {
            gate.signal()
            kept.loop.stop()
            thread.joinOrEndRun()
        }
        let verify = #"{"request":"offline-verify","product":"tonearm:track/7"}"# + "\n"
        func count() -> Int {
            let answer = AwaitedValue<Int>()
            kept.loop.post { [conductor = kept.conductor] in answer.set(conductor.integrity.checkCount) }
            return answer.wait()
        }
        let first = try fixture.connect()
        try first.send(verify)
        try waitUntil("the first check") { count() == 1 }
        var others = try (0..<3).map { _ in try fixture.connect() }
        for other in others { try other.send(verify) }
        try waitUntil("the others") { count() == 4 }
        others.removeAll()
        try waitUntil("the end of the others") { count() == 1 }
        gate.signal()
        #expect(try first.message().errorCode == "no-such-entry")
    }
}
