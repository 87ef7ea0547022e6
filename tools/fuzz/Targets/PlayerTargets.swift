import Media
import PCM
import Platform

@testable import Network
@testable import Account
@testable import Fetching
@testable import Playback
@testable import Player
@testable import Streaming

/// Answers of a content service.
let playerTargets = [
    FuzzTarget("login-answer") { bytes in
        if let code = DeviceCodeAnswer(parsing: bytes) {
            require((1...300).contains(code.interval) && (1...86_400).contains(code.life), "times out of range")
        }
        if let tokens = LoginTokens(parsing: bytes, previous: LoginTokens(access: "a", refresh: "r")) {
            require(tokens.access.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "a token that ends a header")
        }
        _ = LoginErrorAnswer(status: 400, body: bytes)
    },
    FuzzTarget("playbackinfo") { bytes in
        for type in [ProductType.track, .video] {
            guard let info = try? PlaybackInfo(parsing: bytes, type) else { continue }
            require(!info.productId.utf8.isEmpty && !info.manifest.isEmpty, "an answer without a product")
            require(!info.fingerprint.isEmpty, "content without a fingerprint")
            for mode in [LoudnessNormalizationMode.track, .album] {
                let factor = Loudness.factor(mode: mode, preAmp: 4, replayGain: info.replayGain)
                require(factor >= 0, "the factor \(factor)")
                _ = Gain(factor: factor)
            }
            let format: ManifestFormat =
                switch info.manifestType {
                case .bts: .bts
                case .emu: .emu
                case .dash: .dash
                case .hls: .hls
                }
            guard let manifest = try? Manifest(info.manifest, format: format, url: "") else { continue }
            require(!manifest.periods.isEmpty, "a manifest without a period")
        }
        for status in [400, 401, 404, 429, 503] {
            let refusal = ServiceRefusal(status: status, body: bytes)
            _ = refusal.kind
            require(!refusal.reason.utf8.isEmpty, "a refusal without a reason")
        }
    },
    FuzzTarget("content-layout") { bytes in
        guard let manifest = try? Manifest(bytes, format: .dash, url: "https://h/a/b"),
            let layout = try? ContentLayout(manifest, quality: "LOSSLESS")
        else { return }
        require(!layout.parts.isEmpty, "content without a part")
        for part in layout.parts { require(!part.representations.isEmpty, "a part without an encoding") }
    },
    FuzzTarget("answers") { bytes in
        // A whole answer, head and body, to every request of a product that is opened, decoded and sought in. The first
        // byte chooses the kind of request and the size of the body's pieces.
        guard let first = bytes.first, let answer = FuzzedAnswer(bytes.dropFirst()) else { return }
        var request = TransferRequest(url: "https://h/a")
        if first & 1 == 1 { request.range = ByteRange(from: 100, upTo: 5000) }
        let network = FuzzedNetwork(answer, piece: Int(first >> 3) * 40 + 1)
        let source = StreamedBytes(request, over: network, readAhead: 100_000, isSegment: first & 2 == 2)
        require(source.length ?? 0 >= 0, "the length \(source.length ?? 0)")
        guard let decoder = (try? AudioOpening(source).attempt()) ?? nil else { return }
        require(decoder.properties.frameCount ?? 0 >= 0, "a negative length")
        for place in [0, 0.5, 0.99] {
            decode(decoder, atMost: 20)
            let frames = Double(decoder.properties.frameCount ?? 1000)
            guard (try? decoder.seek(toFrame: Int64(frames * place))) != nil else { return }
        }
        decode(decoder, atMost: 20)
    },
    FuzzTarget("catalogue") { bytes in
        guard let matches = CatalogueMatches(parsing: bytes) else { return }
        require(matches.trackCount >= matches.tracks.count, "fewer tracks than there are")
        for track in matches.tracks { require(ServiceAddress(track.address) != nil, "no address: \(track.id)") }
        for group in matches.groups { require(CatalogueList(group.list.text) == group.list, "\(group.list.text)") }
    },
]

private func decode(_ decoder: any AudioDecoder, atMost runs: Int) {
    withUnsafeTemporaryAllocation(of: Int32.self, capacity: 4096) { buffer in
        for _ in 0..<runs {
            switch try? decoder.read(into: buffer) {
            case .frames(let count)?: require(count > 0, "\(count) frames")
            case .format?: break
            case .notYet?, .end?, nil: return
            }
        }
    }
}

/// A head as libcurl passes it on, and the body after its empty line.
private struct FuzzedAnswer: Sendable {
    let head: ResponseHead
    let body: [UInt8]

    /// - Returns: nil when the head is none.
    init?(_ bytes: ArraySlice<UInt8>) {
        var reader = HeadReader()
        var rest = bytes
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            let progress = Array(rest[...end]).withUnsafeBytes { reader.append($0) }
            rest = rest[(end + 1)...]
            if progress == .complete {
                head = ResponseHead(reader, effectiveURL: "https://h/a", isVerifiedTLS: true, now: 1_800_000_000)
                body = Array(rest)
                return
            }
            guard progress == .more || progress == .interim else { return nil }
        }
        return nil
    }
}

/// Answers each request at once, and a number of them only. Delays never end.
// @unchecked: one thread uses it.
private final class FuzzedNetwork: ServiceNetwork, @unchecked Sendable {
    private let answer: FuzzedAnswer
    private let piece: Int
    private var left = 24

    init(_ answer: FuzzedAnswer, piece: Int) { (self.answer, self.piece) = (answer, piece) }

    func begin(_ request: TransferRequest, into sink: any TransferSink) -> any OngoingTransfer {
        let transfer = Ongoing(answer, piece, sink)
        left -= 1
        if left > 0 { transfer.start() }
        return transfer
    }

    func schedule(after nanoseconds: Int64, _ action: @escaping @Sendable () -> Void) {
        if nanoseconds == 0 { action() }
    }

    func waitForLink(atMost nanoseconds: Int64, _ action: @escaping @Sendable (LinkWaitEnd) -> Void) {}

    // @unchecked: one thread uses it.
    private final class Ongoing: OngoingTransfer, @unchecked Sendable {
        private let answer: FuzzedAnswer
        private let piece: Int
        private let sink: any TransferSink
        private var place = 0
        private var isOver = false
        private var isDelivering = false

        init(_ answer: FuzzedAnswer, _ piece: Int, _ sink: any TransferSink) {
            (self.answer, self.piece, self.sink) = (answer, piece, sink)
        }

        func start() {
            sink.began(answer.head)
            resume()
        }

        func resume() {
            guard !isDelivering else { return }
            isDelivering = true
            defer { isDelivering = false }
            while !isOver, place < answer.body.count {
                let end = min(place + piece, answer.body.count)
                guard answer.body[place..<end].withUnsafeBytes({ sink.received($0) }) == .more else { return }
                place = end
            }
            end(answer.head.contentLength.map { $0 > Int64(place) } ?? false ? .truncated : nil)
        }

        func cancel() { end(.cancelled) }

        private func end(_ error: TransferError?) {
            guard !isOver else { return }
            isOver = true
            sink.ended(error)
        }
    }
}
