import Foundation
import Platform
import TestSupport
import Testing

/// 50 players, each with its own connection, and music that is added meanwhile.
@Suite("50 clients at once")
struct ManyClientsTests {
    private static let clientCount = 50
    /// Two clients request each track at the same time.
    private static let trackCount = clientCount / 2
    /// More than one transaction of a scan.
    private static let fillerCount = 600
    /// In the first round of the second connections all ask for something long. The server's end of a connection that
    /// was used for a while has room for all of that.
    private static let requestsOfConnection = 4
    private static let kinds = ["bts", "dash", "hls", "emu"]

    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
        for name in ["music/a old", "aside/b new"] {
            try FileManager.default.createDirectory(atPath: folder[name], withIntermediateDirectories: true)
        }
    }

    // MARK: The music

    private static func title(_ age: String, _ number: Int) -> String { "\(age) \(number < 10 ? "0" : "")\(number)" }

    /// Tracks of six seconds with different sound, in albums of five, and a playlist. Their tags have the loudness,
    /// because a measurement in the background would change playbackinfo.
    private func writeMusic() throws {
        let loudness = ["TRACK_GAIN=-1 dB", "TRACK_PEAK=0.5", "ALBUM_GAIN=-1 dB", "ALBUM_PEAK=0.5"]
            .map { "--tag=REPLAYGAIN_\($0)" }
        let (frames, step) = (270_000, 3000)
        let samples = Data(Music(frames: frames + Self.trackCount * step).samples())
        for number in 0..<Self.trackCount {
            let start = number * step * 4
            try samples[start..<(start + frames * 4)].write(to: URL(fileURLWithPath: folder["raw"]))
            let title = Self.title("Old", number)
            try run(
                "/usr/bin/flac",
                [
                    "--totally-silent", "-0", "--force-raw-format", "--endian=little", "--sign=signed",
                    "--channels=2", "--bps=16", "--sample-rate=44100", "-o", folder["music/a old/\(title).flac"],
                    "--tag=TITLE=\(title)", "--tag=ALBUM=Old album \(number / 5)", folder["raw"],
                ] + loudness)
        }
        let list = (0..<Self.trackCount).reversed().map { "\(Self.title("Old", $0)).flac\n" }.joined()
        try Data(list.utf8).write(to: URL(fileURLWithPath: folder["music/a old/list.m3u8"]))
        // The same sound under other titles, and many small files.
        for number in 0..<Self.trackCount {
            let (old, new) = (Self.title("Old", number), Self.title("New", number))
            try renamed(number).write(to: URL(fileURLWithPath: folder["aside/b new/\(new).flac"]))
            #expect(try renamed(number) != contents("music/a old/\(old).flac"))
        }
        try Music(frames: 5000).writeFLAC(to: folder["aside/filler"], loudness + ["--tag=TITLE=Filler"])
        for number in 0..<Self.fillerCount {
            try FileManager.default.linkItem(
                atPath: folder["aside/filler"], toPath: folder["aside/b new/z\(number).flac"])
        }
    }

    private func contents(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: folder[name])) }

    /// An old track with `New` in its tags.
    private func renamed(_ number: Int) throws -> Data {
        var bytes = try contents("music/a old/\(Self.title("Old", number)).flac")
        for tag in ["TITLE=", "ALBUM="] {
            let place = try #require(bytes.range(of: Data("\(tag)Old".utf8)))
            bytes.replaceSubrange(place, with: Data("\(tag)New".utf8))
        }
        return bytes
    }

    // MARK: The requests

    /// A request of a client.
    private enum Step: Hashable {
        case playbackInfo(track: Int64, kind: String)
        case content(track: Int64, name: String, range: String?)
        case list(String)
    }

    private static let lists = [
        "search?query=old&limit=200", "albums/1/tracks", "playlists/1/tracks?limit=200", "search?query=list",
    ]

    /// Half of the clients look for music first, while the others already play. In the middle all play.
    private static func steps(ofClient client: Int, _ track: Int64) -> [Step] {
        let long: [Step] = [
            .content(track: track, name: "file.flac", range: nil),
            .content(track: track, name: "1.mp4", range: nil),
            .content(track: track, name: "file.flac", range: "bytes=30001-"),
            .content(track: track, name: "file.flac", range: "bytes=0-399999"),
        ]
        let short: [Step] = [
            .content(track: track, name: "init.mp4", range: nil), .content(track: track, name: "2.mp4", range: nil),
            .content(track: track, name: "playlist.m3u8", range: nil),
        ]
        let turn = client % long.count
        let play: [Step] =
            [.playbackInfo(track: track, kind: kinds[(client + client / 2) % kinds.count])]
            + long[turn...] + long[..<turn] + short
        let look = lists.map { Step.list("/v1/\($0)") }
        // Two clients that play one track do so at the same time.
        return client / 2 % 2 == 0 ? play + look : Array(look[..<3]) + play + look[3...]
    }

    /// The service as its clients know it: where the content of the tracks is.
    private final class Service {
        let port: Int
        /// The address of each track's content: `/v1/content/ID/VERSION/` and the signature.
        var content: [Int64: (folder: String, token: String)] = [:]

        init(_ origin: RunningOrigin) throws {
            port = try #require(URLComponents(string: origin.address)?.port)
        }

        func begin(_ step: Step, _ client: HeldClient) throws {
            switch step {
            case .playbackInfo(let track, let kind):
                try client.begin("/v1/tracks/\(track)/playbackinfo?manifest=\(kind)")
            case .content(let track, let name, let range):
                guard let place = content[track] else { throw Unexpected("no playbackinfo of \(track)") }
                try client.begin("\(place.folder)\(name)?\(place.token)", range: range)
            case .list(let path): try client.begin(path)
            }
        }

        /// Learns from a playbackinfo where the content is.
        func learn(_ step: Step, _ answer: HeldClient.Answer) throws {
            guard case .playbackInfo(let track, _) = step else { return }
            let manifest = try ManyClientsTests.manifest(answer)
            let start = try #require(manifest.range(of: "http://nas")).upperBound
            let address = manifest[start...].prefix { !"\"\n".contains($0) }
            let parts = address.components(separatedBy: "?")
            content[track] = (String(parts[0][...(try #require(parts[0].lastIndex(of: "/")))]), parts[1])
        }

        /// Sends the requests of all clients at the same time, a different one for each.
        /// - Parameter isHeld: called when the heads of all answers have come, and no bytes of their bodies are taken.
        func exchange(
            _ steps: [Step], _ clients: [HeldClient], _ isHeld: () throws -> Void = {}
        ) throws -> [HeldClient.Answer] {
            for (step, client) in zip(steps, clients) { try begin(step, client) }
            for client in clients { try client.finish() }
            for client in clients { try client.takeHead() }
            try isHeld()
            let answers = try HeldClient.takeBodies(of: clients)
            for (step, answer) in zip(steps, answers) { try learn(step, answer) }
            return answers
        }
    }

    private static func manifest(_ answer: HeldClient.Answer) throws -> String {
        let json = try JSONValue.parse(String(decoding: answer.body, as: UTF8.self))
        let data = try #require(json["manifest"]?.string.flatMap { Data(base64Encoded: $0) })
        return String(decoding: data, as: UTF8.self)
    }

    /// The part of an answer that is the same in two services: all but signatures and dates.
    private static func comparable(_ step: Step, _ answer: HeldClient.Answer) throws -> HeldClient.Answer {
        var answer = answer
        answer.headers["date"] = nil
        func unsigned(_ text: String) -> String {
            let parts = text.components(separatedBy: "token=")
            let rest = parts.dropFirst().map { $0.drop { $0.isLetter || $0.isNumber || "~-_".contains($0) } }
            return ([parts[0][...]] + rest).joined(separator: "token=")
        }
        switch step {
        case .playbackInfo:
            var json = try JSONValue.parse(String(decoding: answer.body, as: UTF8.self))
            json["manifest"] = .string(unsigned(try manifest(answer)))
            answer.body = Data(json.serialized().utf8)
            answer.headers["content-length"] = nil
        case .content(_, "playlist.m3u8", _):
            answer.body = Data(unsigned(String(decoding: answer.body, as: UTF8.self)).utf8)
        case .content, .list: break
        }
        return answer
    }

    /// The answers that a client gets from a service without other clients.
    private func expected(
        _ service: Service, _ all: [[Step]]
    ) throws -> [Step: HeldClient.Answer] {
        var expected: [Step: HeldClient.Answer] = [:]
        let client = try HeldClient(to: service.port)
        for step in all.joined() where expected[step] == nil {
            expected[step] = try Self.comparable(step, try service.exchange([step], [client])[0])
        }
        return expected
    }

    private func expect(
        _ answers: [HeldClient.Answer], to steps: [Step], are expected: [Step: HeldClient.Answer],
        _ files: [Int64: Data]
    ) throws {
        for (step, answer) in zip(steps, answers) {
            var status = 200
            if case .content(let track, "file.flac", let range) = step {
                let file = try #require(files[track])
                switch range {
                case nil: #expect(answer.body == file)
                case "bytes=0-399999": #expect(answer.body == file.prefix(400_000))
                default: #expect(answer.body == file.dropFirst(30_001))
                }
                if range != nil { status = 206 }
            }
            let alone = try #require(expected[step])
            let both = try Self.comparable(step, answer)
            #expect(answer.status == status && alone.status == status, "\(step)")
            #expect(!answer.body.isEmpty && both.body == alone.body, "\(step): \(both.body.count) bytes")
            #expect(both.headers == alone.headers, "\(step)")
        }
    }

    // MARK: The catalogue

    private func trackCount(_ service: Service) throws -> Int64? {
        let answer = try HeldClient(to: service.port).fetch("/v1/tracks?limit=1")
        return try JSONValue.parse(String(decoding: answer.body, as: UTF8.self))["totalNumberOfItems"]?.integer
    }

    /// The numbers of the 25 tracks, in the order of their titles.
    private func tracks(_ age: String, _ service: Service) throws -> [Int64] {
        let answer = try HeldClient(to: service.port).fetch("/v1/search?types=tracks&limit=200&query=\(age)")
        let json = try JSONValue.parse(String(decoding: answer.body, as: UTF8.self))
        let found = try #require(json["tracks"]?["items"]?.elements)
        return try (0..<Self.trackCount).map { number in
            let track = found.first { $0["title"]?.string == Self.title(age, number) }
            return try #require(track?["id"]?.integer, "\(age) \(number)")
        }
    }

    /// Runs `body` until the catalogue has so many tracks, once at least.
    private func wait(for count: Int, _ service: Service, _ body: () throws -> Void) throws {
        let clock = SystemMonotonicClock()
        let deadline = clock.now() + 120_000_000_000
        repeat {
            if clock.now() > deadline { throw Unexpected("there are no \(count) tracks after two minutes") }
            try body()
        } while try trackCount(service) != Int64(count)
    }

    @Test("Each client gets the same as one alone, while a scan runs")
    func many() throws {
        try writeMusic()
        let (origin, other) = try (
            RunningOrigin(folder["music"], state: folder["state"]),
            RunningOrigin(folder["music"], state: folder["other"])
        )
        let (service, alone) = try (Service(origin), Service(other))

        /// Changes the folder, and lets all clients play all tracks of an age, again and again, until the catalogue has
        /// so many tracks.
        func play(_ age: String, while change: () throws -> Void, until count: Int) throws {
            let numbers = try tracks(age, alone)
            #expect(try tracks(age, service) == numbers)
            let steps = (0..<Self.clientCount).map { Self.steps(ofClient: $0, numbers[$0 / 2]) }
            let expected = try expected(alone, steps)
            let files = try (0..<Self.trackCount).map { number in
                age == "New" ? try renamed(number) : try contents("music/a old/\(Self.title(age, number)).flac")
            }
            let content = Dictionary(uniqueKeysWithValues: zip(numbers, files))
            try change()
            try wait(for: count, service) {
                var clients: [HeldClient] = []
                for round in steps[0].indices {
                    if round % Self.requestsOfConnection == 0 {
                        clients = try steps.map { _ in try HeldClient(to: service.port) }
                    }
                    let asked = steps.map { $0[round] }
                    let answers = try service.exchange(asked, clients) {
                        guard round == Self.requestsOfConnection else { return }
                        let unfinished = try HeldClient.countOfUnfinished(clients)
                        #expect(unfinished == Self.clientCount, "the server works on all of them now")
                    }
                    try expect(answers, to: asked, are: expected, content)
                }
            }
        }

        let files = FileManager.default
        let count = Self.trackCount + Self.trackCount + Self.fillerCount
        try play(
            "Old", while: { try files.moveItem(atPath: folder["aside/b new"], toPath: folder["music/b new"]) },
            until: count)
        try wait(for: count, alone) { Deadline.pause() }
        // Clients play the tracks that were just added.
        try play(
            "New",
            while: {
                try files.createDirectory(atPath: folder["music/c later"], withIntermediateDirectories: true)
                for number in 0..<Self.trackCount {
                    try renamed(number).write(to: URL(fileURLWithPath: folder["music/c later/\(number).flac"]))
                }
            }, until: count + Self.trackCount)
    }
}
