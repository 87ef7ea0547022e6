import Foundation
import Media
import Network
import PCM
import PlayerTestSupport
import TestSupport
import Testing

@testable import Fetching
@testable import Playback
@testable import Player
@testable import Streaming

@Suite("A station is requested again, whatever ends its answer (docs/playback.md, 18.9)")
struct StationTests: WebFileSuite {
    private let network = ScriptedNetwork()
    let files: WebFiles
    private let track: Track
    private let file: [UInt8]

    init() throws {
        files = WebFiles(over: network)
        track = try Track("a", frames: 100_000, rate: 48_000)
        file = try track.file
    }

    private static let icy = [("ICY-Name", "Radio")]

    /// Opens the station, which sends the whole file and ends so.
    private func open(
        endingWith error: TransferError?, _ file: [UInt8]? = nil, _ medium: MediumAccess = MediumAccess()
    ) throws -> any AudioDecoder {
        network.server = { transfer in
            transfer.begin(200, Self.icy)
            transfer.deliver(file ?? self.file)
            transfer.end(error)
        }
        return try open("http://radio/", of: files, medium).decoder
    }

    @Test(
        "It closes, resets, is silent or is cut: the wait is shown, then its new audio follows, again and again",
        arguments: [nil, .connection(.lost), .timeOut(.body), .truncated] as [TransferError?])
    func ends(error: TransferError?) throws {
        let medium = MediumAccess()
        let decoder = try open(endingWith: error, nil, medium)
        #expect(decoder.properties.duration == nil)
        for delay in [500, 1000, 2000] as [Int64] {
            let heard = try decoder.decodeArrived()
            #expect(heard.samples == track.samples && !heard.isOver)
            #expect(network.linkWaits == [delay])
            guard case .network? = medium.stream.wait else {
                Issue.record("no wait")
                return
            }
            // Nothing is requested before its time.
            #expect(try decoder.decodeArrived().samples.isEmpty)
            let woken = Recorder<Void>()
            decoder.whenReadable { woken.record(()) }
            network.passDelays()
            #expect(woken.elements.count == 1)
        }
        #expect(network.transfers.count == 3)
        #expect(network.transfers.allSatisfy { $0.request.range == nil })
    }

    @Test("A server that answers with something else is asked again, less and less often, until it plays")
    func away() throws {
        let decoder = try open(endingWith: nil)
        _ = try decoder.decodeArrived()
        let page = Array("<!DOCTYPE html><html>Off the air</html>".utf8)
        let answers: [(ScriptedNetwork.Ongoing) -> Void] = [
            { $0.answer(404) }, { $0.answer(200, [], page) }, { $0.answer(204) }, { $0.end(.malformedAnswer) },
            { $0.end(.tls(.expired)) }, { $0.answer(200) }, { $0.answer(403) }, { $0.answer(200, Self.icy) },
        ]
        var delays = network.linkWaits
        for answer in answers {
            network.server = answer
            network.passDelays()
            let heard = try decoder.decodeArrived()
            #expect(heard.samples.isEmpty && !heard.isOver)
            delays += network.linkWaits
        }
        #expect(delays == [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
        // Without the fields of a station it is the same station.
        network.server = { $0.answer(200, [], self.file) }
        network.passDelays()
        #expect(try decoder.decodeArrived().samples == track.samples)
        #expect(network.linkWaits == [30_000], "a connection that works shortly does not shorten the delays")
    }

    @Test("Ten seconds of audio begin the delays again")
    func works() throws {
        let long = try Track("long", frames: 500_000, rate: 48_000)
        let decoder = try open(endingWith: nil, try long.file)
        for _ in 0..<3 {
            #expect(try decoder.decodeArrived().samples.count == long.samples.count)
            #expect(network.linkWaits == [500])
            network.passDelays()
        }
    }

    @Test("A seek, for example to where it was before a restart, skips nothing")
    func seek() throws {
        let decoder = try open(endingWith: nil)
        try decoder.seek(toFrame: 48_000 * 3600)
        #expect(try decoder.decodeArrived().samples == track.samples)
        try decoder.seek(toFrame: 0)
        network.passDelays()
        #expect(try decoder.decodeArrived().samples == track.samples)
        #expect(network.transfers.count == 2)
    }

    @Test("Another format is a change of format")
    func format() throws {
        let decoder = try open(endingWith: nil)
        _ = try decoder.decodeArrived()
        let other = try Track("b", frames: 50_000, rate: 44_100)
        let bytes = try other.file
        network.server = { $0.answer(200, Self.icy, bytes) }
        network.passDelays()
        let buffer = UnsafeMutableBufferPointer<Int32>.allocate(capacity: 8192)
        defer { buffer.deallocate() }
        guard case .format(let format) = try decoder.read(into: buffer) else {
            Issue.record("no change")
            return
        }
        #expect(format.sampleRate == 44_100)
        #expect(try decoder.decodeArrived().samples == other.samples)
    }

    @Test("Another format inside one connection is one change of format, as in a chain of Ogg")
    func formatInside() throws {
        func connection() -> RestartingDecoder.Content {
            let other = PCMFormat(sampleRate: 44_100, channelCount: 1, bitDepth: 16)
            return RestartingDecoder.Content(
                ScriptedRuns([.frames(10), .format(other), .frames(20)]), audioQuality: nil)
        }
        let station = StationDecoder(connection(), over: network, MediumAccess()) { () throws(PlayerError) in
            connection()
        }
        var runs: [String] = []
        let buffer = UnsafeMutableBufferPointer<Int32>.allocate(capacity: 64)
        defer { buffer.deallocate() }
        for connection in 0..<3 {
            var isWaiting = false
            while !isWaiting {
                switch try station.read(into: buffer) {
                case .frames(let count): runs.append("\(count)")
                case .format(let format): runs.append("@\(format.sampleRate)")
                case .notYet: isWaiting = true
                case .end: Issue.record("an end")
                }
            }
            // The next connection begins with the first format again.
            #expect(runs == (connection == 0 ? ["10", "@44100", "20"] : ["@48000", "10", "@44100", "20"]))
            runs = []
            network.passDelays()
        }
        // Positions count in the first rate.
        #expect(station.properties.format.sampleRate == 48_000)
    }

    @Test("Offline mode ends it")
    func offline() throws {
        let decoder = try open(endingWith: .offlineMode, Array(file[..<(file.count / 2)]))
        #expect(throws: MediaError.source(.offlineMode)) { _ = try decoder.decodeArrived() }
        let other = try open(endingWith: nil)
        _ = try other.decodeArrived()
        network.server = { $0.end(.offlineMode) }
        network.passDelays()
        #expect(throws: MediaError.source(.offlineMode)) { _ = try other.decodeArrived() }
    }
}

@Suite("Where a web file ends (docs/playback.md, 18.4)")
struct WebFileEndTests: WebFileSuite {
    let files = WebFiles(NetworkSettings { 1_800_000_000 })
    private let track: Track
    private let file: [UInt8]

    init() throws {
        track = try Track("a", frames: 100_000, rate: 48_000)
        file = try track.file
    }

    /// How an answer with the first half of the file ends.
    enum End: CaseIterable {
        case close, missingChunk, reset, shortLength

        static let ofHalf = "HTTP/1.1 200 OK\r\n"

        func head(_ count: Int) -> String {
            switch self {
            case .close, .reset: Self.ofHalf + "Connection: close\r\n\r\n"
            case .missingChunk: Self.ofHalf + "Transfer-Encoding: chunked\r\n\r\n"
            case .shortLength: Self.ofHalf + "Content-Length: \(count)\r\n\r\n"
            }
        }
    }

    private static func chunk(_ bytes: [UInt8]) -> [UInt8] {
        Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8)
    }

    @Test(
        "An answer that breaks in the middle continues at that sample, whether the server has ranges or not",
        arguments: End.allCases, [FileServer.Manner.ranges, .withoutLength])
    func breaks(end: End, manner: FileServer.Manner) throws {
        let server = FileServer(["/a.flac": file], manner) { [file] _, number, connection in
            guard number == 0 else { return false }
            let half = Array(file[..<(file.count / 2)])
            connection.send(end.head(file.count))
            connection.send(end == .missingChunk ? Self.chunk(half) : half)
            guard end == .reset else {
                connection.end()
                return true
            }
            connection.resetAtClose()
            // Ends the wait for another request, and with it the connection.
            shutdown(connection.descriptor, Int32(SHUT_RD))
            return true
        }
        let opened = try open(server.url("/a.flac"))
        #expect(try decoded(opened.decoder) == track.samples)
        #expect(server.requests.elements.count >= 2)
    }

    /// How an answer names its end.
    enum Announced: CaseIterable { case length, chunk }

    @Test(
        "An announced end is the end, also of a file that is cut: nothing is requested again",
        arguments: Announced.allCases)
    func announced(end: Announced) throws {
        let half = Array(file[..<(file.count / 2)])
        let server = FileServer([:]) { _, _, connection in
            switch end {
            case .length: connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(half.count)\r\n\r\n")
            case .chunk: connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            }
            connection.send(end == .chunk ? Self.chunk(half) + Array("0\r\n\r\n".utf8) : half)
            return true
        }
        let opened = try open(server.url("/a.flac"))
        let samples = try decoded(opened.decoder)
        #expect(samples == Array(track.samples.prefix(samples.count)) && samples.count < track.samples.count)
        #expect(opened.decoder.damage.truncated)
        #expect(server.requests.elements.count == 1)
    }

    @Test("A server that closes at the same byte each time is asked once more, and then it is the end")
    func sameEnd() throws {
        let half = Array(file[..<(file.count / 2)])
        let server = FileServer([:]) { _, _, connection in
            connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
            connection.send(half)
            connection.end()
            return true
        }
        let opened = try open(server.url("/a.flac"))
        let samples = try decoded(opened.decoder)
        #expect(samples == Array(track.samples.prefix(samples.count)))
        #expect(opened.decoder.damage.truncated)
        let requests = server.requests.elements.count
        #expect(requests >= 2 && requests < 6, "\(requests)")
    }

    @Test("The codec's own end is the end, though the server only closes")
    func whole() throws {
        let server = FileServer(["/a.flac": file], .withoutLength)
        #expect(try decoded(open(server.url("/a.flac")).decoder) == track.samples)
        #expect(server.requests.elements.count == 1)
    }
}
