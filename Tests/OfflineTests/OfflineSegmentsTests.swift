import Crypto
import Foundation
import Network
import OfflineTestSupport
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Offline
@testable import Player

@Suite("Downloaded segments that the service encrypts as a whole (docs/playback.md, 16.4)", .serialized)
struct OfflineSegmentsTests {
    private static let key = [UInt8](1...16)
    private static let playlist = """
        #EXTM3U
        #EXT-X-TARGETDURATION:1
        #EXT-X-KEY:METHOD=AES-128,URI="https://content/key"
        #EXTINF:1.0,
        https://content/0
        #EXTINF:1.0,
        https://content/1
        #EXT-X-ENDLIST
        """

    private let folder: ScratchFolder
    private let track: Track
    private let service = ScriptedService()
    private let requests = Recorder<String>()
    /// Whether the second segment is answered.
    private let isComplete = Locked(false)
    /// Whether it is refused instead.
    private let isRefused = Locked(false)

    init() throws {
        folder = try ScratchFolder()
        track = try Track("a", frames: 60_000, in: folder)
        let file = try track.file
        // The first one is more than a chunk, and neither ends with one nor with a block.
        let segments = [
            try Self.encrypted(Array(file[..<100_007]), number: 0),
            try Self.encrypted(Array(file[100_007...]), number: 1),
        ]
        let info = """
            {"trackId": 7, "assetPresentation": "FULL", "audioMode": "STEREO", "audioQuality": "LOSSLESS",
             "manifestMimeType": "application/vnd.apple.mpegurl", "manifestHash": "h",
             "manifest": "\(Data(Self.playlist.utf8).base64EncodedString())"}
            """
        service.playbackinfo = { _, _ in (200, info) }
        let (requests, isComplete, isRefused) = (requests, isComplete, isRefused)
        service.content = { _, transfer in
            let name = transfer.request.url.split(separator: "/").last.map { String($0) } ?? ""
            guard let number = Int(name) else { return transfer.answer(200, [], Self.key) }
            let condition = transfer.request.headers.first { $0.name == "If-Range" }?.value
            let start = Int(transfer.request.range?.from ?? 0)
            requests.record("\(number) from \(start) if \(condition ?? "-")")
            if number == 1, isRefused.value { return transfer.answer(404, [], Array(#"{"status": 404}"#.utf8)) }
            guard number == 0 || isComplete.value else { return }
            let segment = segments[number]
            transfer.begin(
                start == 0 ? 200 : 206,
                [
                    start == 0
                        ? ("Content-Length", "\(segment.count)")
                        : ("Content-Range", "bytes \(start)-\(segment.count - 1)/\(segment.count)"),
                    ("ETag", "\"e\(number)\""),
                ])
            transfer.deliver(Array(segment[start...]))
            transfer.end()
        }
    }

    /// Encrypts with padding by PKCS #7; the vector is the number (RFC 8216, 5.2).
    private static func encrypted(_ bytes: [UInt8], number: UInt8) throws -> [UInt8] {
        let padding = 16 - bytes.count % 16
        var cipher = try AESCBC(
            .encrypt, key: SecretBytes(copying: key),
            initializationVector: [UInt8](repeating: 0, count: 15) + [number])
        return try cipher.process(bytes + [UInt8](repeating: UInt8(padding), count: padding))
    }

    @Test("One that is always refused is a new playbackinfo once, and then a failure")
    func refused() throws {
        isRefused.set(true)
        let offline = try OfflineFixture(network: service.network)
        #expect(offline.engine.offline(OfflineFixture.product(7)))
        try offline.spin("the failure") { offline.log.failure != nil }
        #expect(requests.elements.filter { $0.hasPrefix("1") }.count == 2)
        #expect(service.playbackinfoRequests.count == 2)
    }

    @Test("One that is continued is fetched from the block before what is on the medium on, and all of it is whole")
    func continued() throws {
        let state: ScratchFolder
        do {
            let offline = try OfflineFixture(network: service.network)
            state = offline.folder
            #expect(offline.engine.offline(OfflineFixture.product(7)))
            try offline.spin("the second segment") { requests.elements.count == 2 }
        }
        isComplete.set(true)
        let offline = try OfflineFixture(in: state, network: service.network)
        try offline.wait(for: "done r7")
        let first = (SealedLayout.chunkCount / 16 - 1) * 16
        #expect(
            requests.elements == ["0 from 0 if -", "1 from 0 if -", "0 from \(first) if \"e0\"", "1 from 0 if -"])
        let isEqual = try offline.open(7).decodeRest().samples == track.samples
        #expect(isEqual)
        let results = Recorder<OfflineVerification>()
        offline.engine.verify(OfflineFixture.product(7)) { results.record($0) }
        try offline.spin("the check") { !results.elements.isEmpty }
        #expect(results.elements == [.whole])
    }
}
