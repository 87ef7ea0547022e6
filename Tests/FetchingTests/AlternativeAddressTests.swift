import Foundation
import Manifests
import Media
import Network
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Fetching
@testable import Playback
@testable import Player

@Suite("Addresses that stand for one another (docs/playback.md, 15.16)")
struct AlternativeAddressTests {
    private let network = ScriptedNetwork()
    private let failed = FailedAddresses()

    /// How an address fails.
    enum Failure: CaseIterable {
        case refused, noName, silent, certificate, forbidden, missing, serverError, page, cutOff, metered

        func answer(_ transfer: ScriptedNetwork.Ongoing) {
            switch self {
            case .refused: transfer.end(.connection(.refused))
            case .noName: transfer.end(.nameResolution)
            case .silent: transfer.end(.timeOut(.connecting))
            case .metered: transfer.end(.meteredLink)
            case .certificate: transfer.end(.tls(.handshake(reason: "no common cipher")))
            case .forbidden: transfer.answer(403)
            case .missing: transfer.answer(404)
            case .serverError: transfer.answer(503)
            case .page:
                transfer.answer(200, [("Content-Type", "text/html")], Array("<!DOCTYPE html><html>log in".utf8))
            case .cutOff:
                transfer.begin(200, [("Content-Length", "4")])
                transfer.deliver([1, 2])
                transfer.end(.truncated)
            }
        }
    }

    private func read(_ source: StreamedBytes) throws -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 16)
        guard case .bytes(let count) = try bytes.withUnsafeMutableBytes({ try source.read(into: $0, at: 0) }) else {
            return nil
        }
        return Array(bytes[..<count])
    }

    private func bytes(_ name: String = "s", _ patience: Patience = .endless) -> StreamedBytes {
        let bases = ["https://a/x/", "https://b/x/", "https://c/y/"]
        return StreamedBytes(
            .content("https://a/x/\(name)"), over: network,
            at: ResourceAddresses(
                Alternatives("https://a/x/\(name)", bases: bases), failed: failed,
                patience), readAhead: 1000)
    }

    @Test(
        "Each kind of failure leads to the next address at once, which is asked first from then on",
        arguments: Failure.allCases)
    func inTurn(failure: Failure) throws {
        network.server = { transfer in
            if !transfer.request.url.hasPrefix("https://c/") { return failure.answer(transfer) }
            let start = Int(transfer.request.range?.from ?? 0)
            let head =
                start == 0 ? [("Content-Length", "4")] : [("Content-Range", "bytes \(start)-3/4"), ("ETag", "\"c\"")]
            transfer.answer(start == 0 ? 200 : 206, head, Array([1, 2, 3, 4][start...]))
        }
        let source = bytes()
        #expect(try read(source) == [1, 2, 3, 4])
        let urls = network.transfers.map { $0.request.url }
        #expect(urls == ["https://a/x/s", "https://b/x/s", "https://c/y/s"])
        #expect(network.delays.isEmpty)
        #expect(try read(bytes("t")) == [1, 2, 3, 4])
        #expect(network.last.request.url == "https://c/y/t")
        #expect(network.transfers.count == 4)
    }

    @Test("When all have failed it is retried for ever, in turn; what is optional ends")
    func all() throws {
        network.server = { $0.end(.connection(.refused)) }
        let source = bytes()
        for _ in 0..<3 { network.passDelays() }
        #expect(network.transfers.count == 12)
        #expect(Set(network.transfers.prefix(3).map { $0.request.url }).count == 3)
        #expect(try read(source) == nil)
        let optional = bytes("s", .rounds(0))
        #expect(throws: (any Error).self) { try read(optional) }
        #expect(network.transfers.count == 15)
    }

    @Test("A refusal by all is the refusal")
    func refused() throws {
        network.server = { $0.answer(404) }
        let source = bytes()
        #expect { try read(source) } throws: { error in
            if case .foreign(404?, _)? = error as? ByteSourceError { true } else { false }
        }
        #expect(network.transfers.count == 3)
    }

    @Test("Another link: all are asked in their order again")
    func link() {
        let addresses = Alternatives("https://a/x/s", bases: ["https://a/x/", "https://b/x/"]).addresses
        failed.add(addresses[0], isOfHost: true)
        #expect(failed.rank(addresses[0]) > 0 && failed.rank(addresses[1]) == 0)
        failed.forget()
        #expect(failed.rank(addresses[0]) == 0)
    }
}

@Suite("Content of which some addresses do not answer (docs/playback.md, 15.16)", StreamTool.needed)
struct UnreachableContentTests {
    private let content: PackagedContent
    private let track: Track

    init() throws {
        content = try PackagedContent()
        track = try Track("a", frames: 96_001, in: content.folder)
        for (name, size) in [("low", "1152"), ("high", "2304")] {
            try content.encode(track, to: "\(name).mp4", ["-c:a", "flac", "-strict", "-2", "-frame_size", size])
        }
    }

    /// Refuses requests to a host that is not available.
    private func refuse(_ isDead: @escaping (String) -> Bool) {
        let answer = content.service.content
        content.service.content = { count, transfer in
            if isDead(transfer.request.url) { return transfer.end(.connection(.refused)) }
            answer(count, transfer)
        }
    }

    private var deadRequests: [String] { content.fetched.filter { $0.hasPrefix("https://dead/") } }

    @Test("DASH: base URLs of which the first is dead, at each level", arguments: ["<Period", "<AdaptationSet"])
    func baseURLs(level: String) throws {
        let manifest = try content.package(["high.mp4"], ["--segment_duration", "1"])
        let bases = "<BaseURL>https://dead/</BaseURL><BaseURL>https://content/</BaseURL>"
        let place = try #require(manifest.range(of: level)?.lowerBound)
        let end = level == "<Period" ? place : manifest[place...].range(of: ">")!.upperBound
        refuse { $0.hasPrefix("https://dead/") }
        let text = String(manifest[..<end]) + bases + String(manifest[end...])
        let isEqual = try content.open(text).decodeRest().samples == track.samples
        #expect(isEqual)
        // Segments and initialization begin together; later ones know it.
        #expect(deadRequests.count <= 2, "\(deadRequests)")
        let again = try content.open(text).decodeRest().samples == track.samples
        #expect(again)
    }

    private let type = "application/vnd.apple.mpegurl"

    private func master(_ low: String, _ high: String, backup: String? = nil) throws -> String {
        _ = try content.package(["low.mp4", "high.mp4"], ["--segment_duration", "1"])
        let variants =
            [(100_000, low), (1_000_000, high)] + (backup.map { [(1_000_000, $0)] } ?? [])
        return "#EXTM3U\n"
            + variants.map { "#EXT-X-STREAM-INF:BANDWIDTH=\($0.0),CODECS=\"fLaC\"\n\($0.1)\n" }.joined()
    }

    @Test("HLS: a variant on a host that refuses is not used, whichever is begun with", arguments: [true, false])
    func refusedVariant(isFast: Bool) throws {
        if isFast { content.throughput.add(bytes: 1 << 20, nanoseconds: 8_388_608) }
        refuse { $0.hasPrefix("https://dead/") }
        for (low, high) in [("https://dead/low.m3u8", "high.m3u8"), ("low.m3u8", "https://dead/high.m3u8")] {
            let played = try content.open(master(low, high), type: type).decodeRest()
            let isEqual = played.samples == track.samples
            #expect(isEqual && content.service.playbackinfoRequests.count <= 2)
        }
    }

    @Test("HLS: a variant that is not played and never answers is not waited for")
    func silentVariant() throws {
        let answer = content.service.content
        content.service.content = { count, transfer in
            if transfer.request.url.hasPrefix("https://dead/") { return }
            answer(count, transfer)
        }
        let played = try content.open(master("low.m3u8", "https://dead/high.m3u8"), type: type).decodeRest()
        let isEqual = played.samples == track.samples
        #expect(isEqual && deadRequests.count == 1)
    }

    @Test("HLS: of redundant streams the second one plays when the first is dead, and a dead backup is not asked for")
    func redundant() throws {
        content.throughput.add(bytes: 1 << 20, nanoseconds: 8_388_608)
        refuse { $0.hasPrefix("https://dead/") }
        let first = try master("low.m3u8", "https://dead/high.m3u8", backup: "https://content/high.m3u8")
        let decoder = try content.open(first, type: type)
        #expect(decoder.properties.bitRate == 1_000_000)
        let isEqual = try decoder.decodeRest().samples == track.samples
        #expect(isEqual && deadRequests.count == 1)
        let second = try master("low.m3u8", "https://content/high.m3u8", backup: "https://dead/high.m3u8")
        let again = try content.open(second, type: type).decodeRest().samples == track.samples
        #expect(again && deadRequests.count == 1)
    }

    @Test("DASH: a representation on a dead host gives way, and is not asked for again in the session")
    func deadRepresentation() throws {
        content.throughput.add(bytes: 1 << 20, nanoseconds: 8_388_608)
        refuse { $0.hasPrefix("https://dead/") }
        let manifest = try content.package(["low.mp4", "high.mp4"], ["--segment_duration", "1"])
            .components(separatedBy: "<Representation").map { part in
                let isLow = part.contains("\"low/")
                return part.replacing(/bandwidth="\d+"/, with: "bandwidth=\"\(isLow ? 100_000 : 1_000_000)\"")
                    .replacingOccurrences(of: "\"high/", with: "\"https://dead/high/")
            }.joined(separator: "<Representation")
        let source = content.source(manifest)
        for _ in 0..<2 {
            let decoder = try source.open(
                PackagedContent.product, session: PlaybackSession(), cancellation: try Cancellation(),
                medium: MediumAccess()
            ).decoder
            let isEqual = try decoder.decodeRest().samples == track.samples
            #expect(isEqual && content.service.playbackinfoRequests.count <= 2)
            // The initialization and the first segment, which begin together.
            #expect(deadRequests.count == 2, "\(deadRequests)")
        }
    }

    /// Two representations. By the manifest, one needs a tenth of the other's bit rate.
    private func twoBandwidths() throws -> String {
        try content.package(["low.mp4", "high.mp4"], ["--segment_duration", "1"])
            .components(separatedBy: "<Representation").map { part in
                let value = part.contains("\"low/") ? "100000" : "1000000"
                return part.replacing(/bandwidth="\d+"/, with: "bandwidth=\"\(value)\"")
            }.joined(separator: "<Representation")
    }

    /// The decoded samples, with each delay passed as soon as no other work is left; at most a hundred delays.
    private func playThroughDelays(_ manifest: String) throws -> [Int32] {
        let opened = try content.source(manifest).open(
            PackagedContent.product, session: PlaybackSession(), cancellation: try Cancellation(),
            medium: MediumAccess())
        var samples: [Int32] = []
        var isOver = false
        for _ in 0..<100 where !isOver {
            let more = try opened.decoder.decodeArrived()
            samples += more.samples
            isOver = more.isOver
            if !isOver { content.service.network.passDelays() }
        }
        return samples
    }

    @Test("The segments of one representation cannot be reached any more: another one goes on at the next frame")
    func lostRepresentation() throws {
        content.throughput.add(bytes: 1 << 20, nanoseconds: 8_388_608)
        let manifest = try twoBandwidths()
        refuse { url in (4...20).contains { url.hasSuffix("high/\($0).m4s") } }
        // A representation that has worked before is requested for half a minute.
        let samples = try playThroughDelays(manifest)
        let isEqual = samples == track.samples
        #expect(isEqual, "\(samples.count) of \(track.samples.count)")
        #expect(content.fetched.contains { $0.hasSuffix("low/6.m4s") })
        #expect(content.fetched.filter { $0.hasSuffix("high/4.m4s") }.count == 7)
    }

    @Test(
        "No representation can be reached for a while, then one of them: it plays, whichever it is",
        arguments: ["low", "high"])
    func rounds(back: String) throws {
        content.throughput.add(bytes: 1 << 20, nanoseconds: 8_388_608)
        let manifest = try twoBandwidths()
        var refusals: [String] = []
        refuse { url in
            guard (4...20).contains(where: { url.hasSuffix("/\($0).m4s") }) else { return false }
            // Each has been tried several times.
            let others = ["low", "high"].map { name in refusals.filter { $0.hasPrefix("\(name)/") }.count }
            if url.hasPrefix("\(back)/"), others.allSatisfy({ $0 > 4 }) { return false }
            refusals.append(url)
            return true
        }
        let samples = try playThroughDelays(manifest)
        let isEqual = samples == track.samples
        #expect(isEqual, "\(samples.count) of \(track.samples.count) after \(refusals.count) refusals")
    }
}

@Suite("How often representations are tried in turn (docs/playback.md, 15.16)")
struct PatienceTests {
    private let network = MediaError.source(.network(reason: "refused"))
    private let server = MediaError.source(.status(502))
    private let tls = MediaError.source(.tls(reason: "another certificate"))

    @Test("Each round asks more often; while the network fails, there is always another one")
    func rounds() {
        var patience = Patience.first(of: 2)
        var retries: [Int?] = []
        for _ in 0..<100 {
            retries.append(patience.retries(hasWorked: false))
            guard let next = patience.next(after: [server, network]) else { break }
            patience = next
        }
        #expect(retries == [0, 1, 2, 3] + [Int?](repeating: 4, count: 96))
        #expect(Patience.rounds(0).retries(hasWorked: true) == 6)
    }

    @Test("Servers that answer, and certificates, are asked five times in turn", arguments: [502, nil])
    func refused(status: Int?) {
        var (patience, count) = (Patience.first(of: 3), 1)
        while let next = patience.next(after: [status == nil ? tls : server]) { (patience, count) = (next, count + 1) }
        #expect(count == 5)
    }

    @Test("The only representation has the schedule's retries, and no round follows")
    func single() {
        #expect(Patience.first(of: 1) == .endless && Patience.endless.retries(hasWorked: true) == nil)
        #expect(Patience.endless.next(after: [network]) == nil && Patience.rounds(0).next(after: []) == nil)
    }
}
