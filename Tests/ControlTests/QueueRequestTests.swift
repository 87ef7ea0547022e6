import ApplianceTestSupport
import Foundation
import Media
import Platform
import Queue
import QueueTestSupport
import Testing

@testable import Appliance
@testable import Control

@Suite("The queue over the control socket")
struct QueueRequestTests {
    private let fixture: RemoteFixture
    private let tracks: Tracks
    private let client: JSONClient

    init() throws {
        fixture = try RemoteFixture()
        tracks = try Tracks()
        client = try fixture.connect()
    }

    private func products(_ word: String) throws -> String {
        let paths = try tracks.make(word, frames: 1000).map { "{\"path\":\"\($0.productId)\"}" }
        return "\"products\":[\(paths.joined(separator: ","))]"
    }

    /// The queue as letters, the current one in capitals.
    private func queue() throws -> String {
        try client.ask("queue")["entries"]?.elements?.map { entry in
            let letter = String(entry["file"]?.string?.split(separator: "/").last?.first ?? "?")
            return entry["current"] == true ? letter.uppercased() : letter
        }.joined() ?? ""
    }

    @Test("Set, add, insert, move, remove, clear")
    func operations() throws {
        defer { fixture.shutDown() }
        let reply = try client.ask("queue-set", try products("abc"))
        #expect(reply["entry"] == 1 && reply["added"] == 3)
        #expect(try queue() == "Abc")
        #expect(try client.ask("queue-add", try products("de"))["entry"] == 4)
        try client.ask("queue-insert", try products("x"))
        try client.ask("queue-insert", try products("yz") + ",\"index\":4")
        #expect(try queue() == "Axbcyzde")
        try client.ask("queue-move", "\"entry\":5,\"index\":0")
        #expect(try queue() == "eAxbcyzd")
        #expect(try client.ask("queue-remove", "\"entries\":[1,5]")["removed"] == 2)
        #expect(try queue() == "Xbcyzd")
        #expect(try client.ask("queue-remove", "\"from\":4,\"count\":10")["removed"] == 2)
        #expect(try queue() == "Xbcy")
        try client.ask("queue-clear")
        #expect(try client.ask("queue")["count"] == 0)
        try client.ask("queue-set", try products("ab") + ",\"index\":1")
        #expect(try queue() == "aB")
    }

    @Test("Requests that are sent together are carried out and answered in their order")
    func pipelined() throws {
        defer { fixture.shutDown() }
        try client.send(
            """
            {"id":1,"request":"queue-add",\(try products("ab"))}
            {"id":2,"request":"queue"}
            {"id":3,"request":"queue-add",\(try products("c"))}
            {"id":4,"request":"queue"}

            """)
        let replies = try (0..<4).map { _ in try client.message() }
        #expect(replies.map { $0["id"] } == [1, 2, 3, 4])
        #expect(replies.map { $0["count"] } == [nil, 2, nil, 3])
    }

    @Test("A folder stands for its music, in order")
    func folder() throws {
        defer { fixture.shutDown() }
        let album = fixture.folder["album"]
        try FileManager.default.createDirectory(atPath: album + "/disc 2", withIntermediateDirectories: true)
        for (letter, name) in ["a": "1.flac", "b": "10.flac", "c": "disc 2/1.flac", "d": "2.flac"] {
            let file = try tracks.make(letter, frames: 1000)[0].productId
            try FileManager.default.copyItem(atPath: file, toPath: "\(album)/\(name)")
        }
        #expect(try client.ask("queue-set", "\"products\":[{\"path\":\"\(album)\"}]")["added"] == 4)
        let files = try client.ask("queue")["entries"]?.elements?.compactMap {
            $0["file"]?.string?.dropFirst(album.count + 1)
        }
        #expect(files == ["1.flac", "2.flac", "10.flac", "disc 2/1.flac"])
    }

    @Test("Collected music is added at once and in order, or not at all")
    func collected() throws {
        defer { fixture.shutDown() }
        let other = try fixture.connect()
        try client.ask("queue-set", try products("z"))
        #expect(try client.ask("queue-collect", try products("ab"))["collected"] == 2)
        #expect(try client.ask("queue-collect", try products("c"))["collected"] == 3)
        #expect(try queue() == "Z")
        #expect(try other.ask("queue-add", try products("y"))["added"] == 1)
        #expect(try client.ask("queue-insert", try products("d") + ",\"index\":0")["added"] == 4)
        #expect(try queue() == "abcdZy")
        #expect(try client.ask("queue-add", try products("x"))["added"] == 1, "it was brought in once")
        let mistakes = [
            ("queue-collect", "\"products\":[{\"path\":\"/no/such\"}]"), ("queue-collect", "\"products\":[]"),
            ("queue-set", "\"products\":[{\"path\":\"/no/such\"}]"), ("queue-set", try products("a") + ",\"index\":9"),
        ]
        for (request, fields) in mistakes {
            try client.ask("queue-collect", try products("bc"))
            #expect(try client.ask(request, fields)["ok"] == false)
            #expect(try client.ask("queue-collect", try products("a"))["collected"] == 1)
            try client.ask("stop", "\"nonsense\":0")
        }
        #expect(try queue() == "abcdZyx")
    }

    @Test("Collected music is limited to the capacity of the queue")
    func collectedTooMany() throws {
        defer { fixture.shutDown() }
        try client.ask("queue-add", try products("a"))
        let some = (0..<2000).map { "{\"path\":\"http://h/\($0)\"}" }
        let products = "\"products\":[\(some.joined(separator: ","))]"
        for request in 1...50 {
            #expect(try client.ask("queue-collect", products)["collected"] == .integer(Int64(request) * 2000))
        }
        #expect(try client.ask("queue-collect", try self.products("a")).errorCode == "queue-full")
        #expect(try queue() == "a")
    }

    @Test("A folder that one request names hundreds of times is one folder")
    func namedOften() throws {
        defer { fixture.shutDown() }
        let folder = fixture.folder["many"]
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for number in 0..<1000 { try Data().write(to: URL(fileURLWithPath: "\(folder)/\(number).flac")) }
        let some = repeatElement("{\"path\":\"\(folder)\"}", count: 60_000 / (folder.utf8.count + 12))
        #expect(try client.ask("queue-add", "\"products\":[\(some.joined(separator: ","))]")["added"] == 1000)
    }

    @Test("More music than the queue has room for ends the search")
    func noRoom() throws {
        defer { fixture.shutDown() }
        let file = try tracks.make("a", frames: 1000)[0].productId
        let products = (0..<PlayQueue.capacity - 1).map { QueuedProduct(.track, "/\($0)") }
        fixture.withDaemon { daemon in
            try! daemon.queue.edit { queue throws(PlayQueueError) in try queue.add(products) }
        }
        let two = "\"products\":[{\"path\":\"\(file)\"},{\"path\":\"\(file)\"},{\"path\":\"/no/such\"}]"
        #expect(try client.ask("queue-add", two).errorCode == "queue-full", "before it looks at the third")
        #expect(try client.ask("queue-add", "\"products\":[{\"path\":\"\(file)\"}]")["added"] == 1)
    }

    @Test(
        "The kernel's folders are refused, and skipped behind links", arguments: ["/proc", "/sys", "/dev"])
    func kernelFolders(path: String) throws {
        defer { fixture.shutDown() }
        let reply = try client.ask("queue-add", "\"products\":[{\"path\":\"\(path)\"}]")
        #expect(reply.errorCode == "no-music")
        #expect(reply.errorMessage == "\(path): a folder of the system, which has no music in it")
    }

    @Test(
        "Unreadable entries of a folder are counted, and the others are added; files in it are not opened")
    func skipped() throws {
        defer { fixture.shutDown() }
        let album = fixture.folder["album"]
        try FileManager.default.createDirectory(atPath: album, withIntermediateDirectories: true)
        try Data("not looked into".utf8).write(to: URL(fileURLWithPath: album + "/1.flac"))
        try FileManager.default.createSymbolicLink(atPath: album + "/2.flac", withDestinationPath: "nowhere")
        let noUTF8 = Array((album + "/3").utf8) + [0xFF] + Array(".flac".utf8) + [0]
        let descriptor = noUTF8.withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { creat($0.baseAddress!, 0o600) }
        }
        #expect(close(descriptor) == 0)
        let products = "\"products\":[{\"path\":\"\(album)\"}]"
        let reply = try client.ask("queue-add", products)
        #expect(reply["added"] == 2 && reply["skipped"] == 1)
        #expect(try client.ask("queue-collect", products)["skipped"] == 1)
        #expect(try client.ask("queue-add", products)["skipped"] == 2, "with the collected music")
        #expect(try client.ask("queue-add", "\"products\":[{\"path\":\"\(album)/1.flac\"}]").errorCode == "no-music")
    }

    @Test("A cue sheet stands for its tracks, a playlist for its entries; what is missing in them is counted")
    func lists() throws {
        defer { fixture.shutDown() }
        _ = try tracks.make("ab", frames: 1000)
        let folder = tracks.folder
        func write(_ text: String, _ name: String) throws -> String {
            try Data(text.utf8).write(to: URL(fileURLWithPath: folder[name]))
            return "\"products\":[{\"path\":\"\(folder[name])\"}]"
        }
        let sheet = try write(
            "FILE a.wav WAVE\nTRACK 1 AUDIO\nINDEX 1 0:0:0\nTRACK 2 AUDIO\nINDEX 1 0:0:30\n", "a.cue")
        let list = try write("b.flac\ngone.flac\na.cue/track0002\nmms://radio/1\nhttp://nas/1.flac\n", "list.m3u")
        #expect(try client.ask("queue-add", sheet)["added"] == 2)
        let reply = try client.ask("queue-add", list)
        #expect(reply["added"] == 3 && reply["skipped"] == 2)
        let track = "\"products\":[{\"path\":\"\(folder["a.cue/track0001"])\"}]"
        #expect(try client.ask("queue-add", track)["added"] == 1)
        let names = try client.ask("queue")["entries"]?.elements?.compactMap {
            $0["file"]?.string.map { $0.replacingOccurrences(of: folder.path + "/", with: "") }
        }
        #expect(
            names == [
                "a.cue/track0001", "a.cue/track0002", "b.flac", "a.cue/track0002", "http://nas/1.flac",
                "a.cue/track0001",
            ])
        #expect(try client.ask("queue-add", "\"products\":[{\"path\":\"https://nas/2.flac\"}]")["added"] == 1)
        #expect(try client.ask("queue-add", "\"products\":[{\"path\":\"ftp://nas/2\"}]").errorCode == "bad-request")
        for (products, code, message) in [
            (try write("a letter", "b.cue"), "no-music", "b.cue: a cue sheet without tracks of audio."),
            (try write("gone.flac\n", "b.m3u"), "no-music", "b.m3u: its entry \"gone.flac\" does not exist."),
            (try write("#EXTM3U\n", "c.m3u"), "no-music", "c.m3u: no music in this playlist. Supported: "),
            (
                try write("FILE gone.wav WAVE\nTRACK 1 AUDIO\nINDEX 1 0:0:0\n", "c.cue"), "no-such-file",
                "c.cue: its music file \"gone.wav\" does not exist."
            ),
            (track.replacingOccurrences(of: "track0001", with: "track0009"), "no-music", "a.cue: no track 9: its"),
        ] {
            let reply = try client.ask("queue-add", products)
            #expect(reply.errorCode == code, "\(products)")
            #expect(reply.errorMessage?.hasPrefix("\(folder.path)/\(message)") == true, "\(reply)")
        }
    }

    @Test("A place beyond the end stands for the end, but there has to be something to remove")
    func placesBeyondTheEnd() throws {
        defer { fixture.shutDown() }
        try client.ask("queue-set", try products("abcd"))
        try client.ask("queue-move", "\"entry\":1,\"index\":99")
        #expect(try queue() == "bcdA")
        try client.ask("queue-insert", try products("e") + ",\"index\":99")
        #expect(try queue() == "bcdAe")
        #expect(try client.ask("queue-remove", "\"from\":3,\"count\":99")["removed"] == 2)
        for from in [3, Int.max - 1, .max] {
            for count in [1, 99, PlayQueue.capacity] {
                let reply = try client.ask("queue-remove", "\"from\":\(from),\"count\":\(count)")
                #expect(reply.errorCode == "no-such-entry", "\(from), \(count)")
            }
        }
        #expect(try client.ask("queue-remove", "\"from\":0,\"count\":0")["removed"] == 0)
    }

    @Test("A request that fails gives the reason, and changes nothing")
    func refusals() throws {
        defer { fixture.shutDown() }
        let empty = fixture.folder["empty"]
        try FileManager.default.createDirectory(atPath: empty, withIntermediateDirectories: true)
        for request in ["play", "toggle", "next", "previous"] {
            #expect(try client.ask(request).errorCode == "empty-queue", "\(request)")
        }
        for request in ["pause", "stop"] { #expect(try client.ask(request)["ok"] == true, "\(request)") }
        #expect(try client.ask("seek", "\"position\":1").errorCode == "nothing-current")
        try client.ask("queue-set", try products("ab"))
        let missing = "{\"path\":\"/no/such\"}"
        let some = try products("c").dropLast()
        func file(_ name: String, _ bytes: [UInt8]) throws -> String {
            try Data(bytes).write(to: URL(fileURLWithPath: fixture.folder[name]))
            return fixture.folder[name]
        }
        let photo = try file("cover.flac", [0xFF, 0xD8, 0xFF, 0xE0])
        let noise = try file("noise.wav", [1, 2, 3, 4])
        let unplayed = try file("a.flac", Array("MAC ".utf8) + [0x96, 0x0F])
        let nothing = try file("nothing.flac", [])
        // It cannot be read, not even by root.
        let secret = "/proc/sys/vm/compact_memory"
        let refusals = [
            ("queue-add", "\(some),\(missing)]", "no-such-file", "/no/such: No such file or directory"),
            ("queue-add", "\(some),{\"path\":\"/dev/zero\"}]", "no-music", "/dev/zero is a device, a pipe or a socket"),
            (
                "queue-set", "\(some),{\"path\":\"\(empty)\"}]", "no-music",
                "\(empty): no music in this folder. Supported: "
            ),
            (
                "queue-add", "\(some),{\"path\":\"\(photo)\"}]", "no-music",
                "\(photo): not audio (looks like JPEG). Supported: \(AudioFormats.supported)."
            ),
            (
                "queue-insert", "\(some),{\"path\":\"\(noise)\"}]", "no-music",
                "\(noise): not audio. Supported: \(AudioFormats.supported)."
            ),
            (
                "queue-add", "\(some),{\"path\":\"\(unplayed)\"}]", "no-music",
                "\(unplayed): APE is not supported. Supported: \(AudioFormats.supported)."
            ),
            ("queue-set", "\(some),{\"path\":\"\(nothing)\"}]", "no-music", "\(nothing): the file is empty."),
            ("queue-set", "\(some),{\"path\":\"\(secret)\"}]", "no-such-file", "\(secret): Permission denied"),
            ("queue-set", try products("c") + ",\"index\":1", "no-such-entry", "no entry at index 1: there are 1"),
            ("queue-move", "\"entry\":9,\"index\":0", "no-such-entry", "no entry 9 in the queue"),
            ("queue-remove", "\"entries\":[1,9]", "no-such-entry", "no entry 9 in the queue"),
            ("queue-remove", "\"from\":2", "no-such-entry", "no entry at index 2: there are 2"),
            ("play", "\"entry\":9", "no-such-entry", "no entry 9 in the queue"),
            ("play", "\"index\":2", "no-such-entry", "no entry at index 2: there are 2"),
        ]
        for (request, fields, code, message) in refusals {
            let reply = try client.ask(request, fields)
            #expect(reply.errorCode == code && reply.errorMessage?.hasPrefix(message) == true, "\(request): \(reply)")
        }
        #expect(try queue() == "Ab")
    }

    @Test("A long queue comes in pages that fit into a line, whose entries follow each other")
    func pages() throws {
        defer { fixture.shutDown() }
        let products = (0..<2000).map {
            QueuedProduct(.track, "/" + String(repeating: "x", count: 100 + $0 % 400) + "\($0)")
        }
        fixture.withDaemon { daemon in
            try! daemon.queue.edit { queue throws(PlayQueueError) in try queue.add(products) }
        }
        var files: [String?] = []
        while files.count < 2000 {
            try client.send("{\"id\":0,\"request\":\"queue\",\"from\":\(files.count)}\n")
            let line = try #require(try client.line())
            #expect(line.utf8.count < 65_536)
            let entries = try #require(try JSONValue.parse(line)["entries"]?.elements)
            try #require(!entries.isEmpty)
            files += entries.map { $0["file"]?.string }
        }
        #expect(files == products.map(\.productId))
        #expect(try client.ask("queue", "\"from\":5000")["entries"] == [])
        #expect(try client.ask("queue", "\"from\":1998,\"count\":9")["entries"]?.elements?.count == 2)
    }

    @Test("Modes, and where to play")
    func modes() throws {
        defer { fixture.shutDown() }
        try client.ask("queue-set", try products("abc"))
        try client.ask("repeat", "\"mode\":\"all\"")
        try client.ask("shuffle", "\"on\":true")
        #expect(fixture.withDaemon { $0.queue.contents.repeatMode == .all && $0.queue.contents.isShuffled })
        #expect(try client.ask("shuffle")["shuffle"] == false)
        #expect(try client.ask("shuffle")["shuffle"] == true)
        #expect(try client.ask("shuffle", "\"on\":false")["shuffle"] == false)
        try client.ask("play", "\"index\":2")
        #expect(try queue() == "abC")
        #expect(fixture.withDaemon { $0.queue.wantsToPlay })
        try client.ask("play", "\"entry\":1")
        #expect(try queue() == "Abc")
        try client.ask("pause")
        #expect(!fixture.withDaemon { $0.queue.wantsToPlay })
    }

    @Test("A folder's file whose name is not UTF-8 comes into the queue, and its text leads back to it")
    func nameThatIsNotUTF8() throws {
        defer { fixture.shutDown() }
        let path = fixture.folder["album/caf\u{EFE9}.flac"]
        try Folder.create(fixture.folder["album"])
        let plain = try tracks.make("a", frames: 1000)[0].productId
        #expect(FileName.withBytes(of: path) { link(plain, $0) } == 0)
        #expect(try client.ask("queue-add", "\"products\":[{\"path\":\"\(fixture.folder["album"])\"}]")["added"] == 1)
        #expect(try client.ask("queue")["entries"]?[0]?["file"]?.string == path)
        // A client may send the daemon's own values back.
        #expect(try client.ask("queue-set", "\"products\":[{\"path\":\"\(path)\"}]")["added"] == 1)
        #expect(try client.ask("status")["file"]?.string == path)
    }
}
