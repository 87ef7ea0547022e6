import Foundation
import Media
import Network
import PCM
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Account
@testable import Playback
@testable import Player
@testable import Streaming

@Suite("Products of a content service (docs/playback.md, 15)")
struct ContentServiceTests {
    private let folder: ScratchFolder
    private let track: Track
    private let file: [UInt8]
    private let service = ScriptedService()
    /// The ids of sessions that have replaced the first one.
    private let renewals = Recorder<String>()
    private let product = MediaProduct(productType: .track, productId: "tonearm:track/7", referenceId: "r")

    init() throws {
        folder = try ScratchFolder()
        track = try Track("a", frames: 100_000, in: folder)
        file = try track.file
        service.content = { [file] _, transfer in
            ScriptedService.serve(file, to: transfer)
            transfer.end()
        }
    }

    /// Gives one token after the other.
    // @unchecked: used on the thread that opens alone.
    private final class Tokens: CredentialsProvider, @unchecked Sendable {
        private var tokens: [String]
        init(_ tokens: [String]) { self.tokens = tokens }
        func token(insteadOf rejected: String?, for use: TokenUse) -> String? {
            if rejected != nil { tokens.removeFirst() }
            return tokens.first
        }
    }

    private func open(_ tokens: [String] = ["t1"]) throws(PlayerError) -> OpenedProduct {
        let sessions = Counter()
        let source = ContentService(
            ServiceSettings(baseURL: "https://service/"), over: service.network, credentials: Tokens(tokens))
        let session = PlaybackSession(
            newID: { "session \(sessions.next())" }, renewed: { [renewals] in renewals.record($0) })
        return try source.open(product, session: session, cancellation: try! Cancellation(), medium: MediumAccess())
    }

    // @unchecked: used on the thread that opens alone.
    private final class Counter: @unchecked Sendable {
        private var count = 0
        func next() -> Int {
            count += 1
            return count
        }
    }

    private func decode(_ opened: OpenedProduct) throws -> [Int32] {
        var samples: [Int32] = []
        let buffer = UnsafeMutableBufferPointer<Int32>.allocate(capacity: 8192)
        defer { buffer.deallocate() }
        while case .frames(let count) = try opened.decoder.read(into: buffer) {
            samples += buffer.prefix(count * track.format.channelCount)
        }
        return samples
    }

    @Test("The samples, and what came in place of what was asked for")
    func plays() throws {
        let opened = try open()
        #expect(opened.productId == "tonearm:track/42")
        #expect(opened.assetPresentation == .preview && opened.fetching?.audioQuality == .lossless)
        #expect(opened.replayGain == ReplayGain(trackGain: -3.5, trackPeak: 0.5))
        #expect(try decode(opened) == track.samples)
        let request = try #require(service.playbackinfoRequests.first)
        #expect(request.url.hasPrefix("https://service/v1/tracks/7/playbackinfo?audioquality=LOSSLESS"))
        #expect(request.headers.contains(HeaderField("Authorization", "Bearer t1")))
        #expect(service.playbackinfoRequests.count == 1 && service.contentRequests.count == 1)
    }

    @Test("After 401 another token is tried once")
    func refresh() throws {
        service.playbackinfo = { _, request in
            request.headers.contains(HeaderField("Authorization", "Bearer t2")) ? nil : (401, "{\"subStatus\": 11003}")
        }
        #expect(try decode(try open(["t1", "t2"])) == track.samples)
        #expect(service.playbackinfoRequests.count == 2)
        let error = #expect(throws: PlayerError.self) { try open(["t1", "t3", "t4"]) }
        #expect(error?.kind == .notAllowed)
        #expect(error?.cause == .service(status: 401, subStatus: 11003))
        #expect(service.playbackinfoRequests.count == 4)
    }

    @Test("A refusal has its kind, and its reason for a person", arguments: [4010, 4032, 4033, 4007])
    func refused(subStatus: Int) throws {
        service.playbackinfo = { _, _ in (403, "{\"subStatus\": \(subStatus), \"userMessage\": \"Sorry\"}") }
        let error = #expect(throws: PlayerError.self) { try open() }
        let kinds: [Int: PlayerError.Kind] = [
            4010: .monthlyStreamQuotaExceeded, 4032: .contentNotAvailableInLocation,
            4033: .contentNotAvailableForSubscription, 4007: .offliningNotAllowedOnDevice,
        ]
        #expect(error?.kind == kinds[subStatus])
        #expect(error?.code == "a\(subStatus)")
        #expect(error?.message.contains("Sorry") == true)
        #expect(error?.mediaProduct == product)
        #expect(service.playbackinfoRequests.count == 1)
    }

    @Test("An answer that is not playbackinfo is an error that names the field")
    func malformed() throws {
        service.playbackinfo = { _, _ in (200, "<html></html>") }
        let error = #expect(throws: PlayerError.self) { try open() }
        #expect(error?.kind == .retryable && error?.cause == .foreign(status: 200) && error?.reach == .service)
        for other in ["Welcome", "{}", #"{"portal": "https://hotel"}"#] {
            service.playbackinfo = { _, _ in (200, other) }
            let error = #expect(throws: PlayerError.self) { try open() }
            #expect(error?.kind == .unexpected && error?.cause == .answer(field: "json"))
            #expect(error?.reach == .service)
        }
    }

    @Test("An address that has expired in the middle: a new session, and not a frame is lost or heard twice")
    func restart() throws {
        let opened = try restarted()
        #expect(try decode(opened) == track.samples)
        #expect(service.playbackinfoRequests.count == 2)
        let sessions = service.playbackinfoRequests.map { request in
            request.headers.first { $0.isNamed("x-tidal-streamingsessionid") }?.value
        }
        #expect(sessions == ["session 1", "session 2"])
        #expect(renewals.elements == ["session 2"])
    }

    /// A product whose address expires in the middle of the transfer.
    /// - Parameter info: the answer to the second request.
    private func restarted(with info: String = ScriptedService.info()) throws -> OpenedProduct {
        service.content = { [file] count, transfer in
            switch count {
            case 1:
                ScriptedService.serve(file, to: transfer, upTo: file.count / 2)
                transfer.end(.connection(.lost))
            case 2: transfer.answer(403)
            default:
                ScriptedService.serve(file, to: transfer)
                transfer.end()
            }
        }
        let opened = try open()
        service.playbackinfo = { _, _ in (200, info) }
        service.network.passDelays()
        return opened
    }

    @Test("The quality is that of the last answer")
    func renewedQuality() throws {
        let opened = try restarted(with: ScriptedService.info(quality: "HI_RES_LOSSLESS"))
        #expect(opened.fetching?.audioQuality == .lossless)
        #expect(try decode(opened) == track.samples)
        #expect(opened.fetching?.audioQuality == .hiResLossless)
    }

    @Test("A preview in place of the rest is an error, and not the end of the product")
    func previewInPlaceOfTheRest() throws {
        let info = ScriptedService.info().replacingOccurrences(of: "PREVIEW", with: "FULL")
        let opened = try restarted(with: info)
        #expect { try decode(opened) } throws: { ($0 as? MediaError)?.foreignStatus == 403 }
        #expect(opened.fetching?.failure?.code == "a7")
    }

    @Test("Content that is refused at once: one restart, then the error", arguments: [403, 404, 410])
    func refusedContent(status: Int) throws {
        service.content = { _, transfer in transfer.answer(status) }
        let error = #expect(throws: PlayerError.self) { try open() }
        #expect(error?.kind == .retryable && error?.code == "h\(status)" && error?.reach == .content)
        #expect(service.playbackinfoRequests.count == 2)
    }

    @Test(
        "A length that no content has ends no process, also of FLAC without a header",
        arguments: [
            (200, "Content-Length", "9223372036854775807"), (200, "Content-Length", "99999999999999999999"),
            (206, "Content-Range", "bytes 0-99/9223372036854775807"),
            (206, "Content-Range", "bytes 0-9223372036854775806/9223372036854775807"),
        ], [true, false])
    func absurdLength(answer: (status: Int, name: String, value: String), isWithoutHeader: Bool) throws {
        let frames = isWithoutHeader ? try Self.withoutHeader(file) : file
        service.content = { _, transfer in
            transfer.begin(answer.status, [(answer.name, answer.value)])
            transfer.deliver(frames)
            transfer.end(.malformedAnswer)
        }
        // It may fail or play, but it must end.
        do throws(PlayerError) {
            let opened = try open()
            _ = opened.decoder.properties.duration
            try? opened.decoder.seek(toFrame: 1 << 60)
        } catch {
            #expect(error.mediaProduct == product)
        }
    }

    /// The frames of a FLAC file.
    private static func withoutHeader(_ file: [UInt8]) throws -> [UInt8] {
        var place = 4
        var isLast = false
        while !isLast {
            isLast = file[place] & 0x80 != 0
            place += 4 + Int(file[place + 1]) << 16 + Int(file[place + 2]) << 8 + Int(file[place + 3])
        }
        return Array(file[place...])
    }

    @Test("A restart that is refused has the refusal's kind")
    func refusedRestart() throws {
        service.content = { [file] count, transfer in
            if count == 1 {
                ScriptedService.serve(file, to: transfer, upTo: file.count / 2)
                transfer.end(.connection(.lost))
            } else {
                transfer.answer(403)
            }
        }
        let opened = try open()
        service.playbackinfo = { _, _ in (403, "{\"subStatus\": 4010}") }
        service.network.passDelays()
        #expect { try decode(opened) } throws: { ($0 as? MediaError)?.foreignStatus == 403 }
        #expect(opened.fetching?.failure?.kind == .monthlyStreamQuotaExceeded)
    }

    @Test("A seek asks for the part that is needed")
    func seek() throws {
        let long = try Track("long", frames: 400_000, in: folder)
        let file = try long.file
        service.content = { _, transfer in
            // Bytes that are not requested do not come.
            ScriptedService.serve(file, to: transfer, upTo: transfer.request.range == nil ? 50_000 : file.count)
        }
        let opened = try open()
        try opened.decoder.seek(toFrame: 390_000)
        let buffer = UnsafeMutableBufferPointer<Int32>.allocate(capacity: 8192)
        defer { buffer.deallocate() }
        guard case .frames(let count) = try opened.decoder.read(into: buffer) else {
            Issue.record("no frames")
            return
        }
        #expect(Array(buffer.prefix(count * 2)) == long.samples(390_000..<390_000 + count))
    }

    @Test(
        "Texts that are no address of a product",
        arguments: ["tonearm:", "tonearm:track/", "tonearm:album/1", "tonearm:7"])
    func addresses(text: String) {
        #expect(ServiceAddress(text) == nil && ServiceAddress.isMeant(by: text))
        #expect(SourceRouter.route(of: MediaProduct(productType: .track, productId: text, referenceId: "")) == .service)
    }
}
