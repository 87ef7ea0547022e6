import Crypto
import Foundation
import OfflineTestSupport
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Player

@Suite("Content that is decoded while it arrives (docs/playback.md, 16.4)", .serialized)
struct OfflineContentTests {
    private let folder: ScratchFolder
    private let service = OfflineTestService()

    init() throws { folder = try ScratchFolder() }

    /// A WAV file of silence.
    /// - Parameters:
    ///   - declared: the size in its header.
    ///   - tail: bytes of a chunk after the samples.
    private func wav(frames: Int, declared: UInt32? = nil, tail: Int = 0) -> [UInt8] {
        func number(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> UInt32(8 * $0)) } }
        let size = UInt32(frames * 4)
        var file = Array("RIFF".utf8) + number(declared.map { $0 &+ 36 } ?? size + 36) + Array("WAVEfmt ".utf8)
        file += number(16) + [1, 0, 2, 0] + number(44_100) + number(176_400) + [4, 0, 16, 0]
        file += Array("data".utf8) + number(declared ?? size) + [UInt8](repeating: 0, count: frames * 4)
        if tail > 0 { file += Array("junk".utf8) + number(UInt32(tail)) + [UInt8](repeating: 1, count: tail) }
        return file
    }

    @Test("A part that is damaged on the medium is found, and all of it is fetched again")
    func damagedPart() throws {
        let track = try Track("large", frames: 1_400_000, in: folder)
        let file = try track.file
        try #require(file.count > 5 << 20)
        service.serve(file, as: "7")
        let (state, path) = try {
            let offline = try OfflineFixture(service)
            try offline.downloadPart(file, percent: 90)
            return (offline.folder, try onlyOfflineCopy(in: offline.folder["offline"]))
        }()
        try flipBit(ofFile: path) { _ in 1000 }
        let again = try OfflineFixture(in: state, service)
        try again.wait(for: "done r7")
        #expect(service.contentRequests.count == 3 && service.contentRequests.last?.from == 0)
        #expect(service.infoRequests == 3)
        let isExact = try again.played(track.frames) == track.samples
        #expect(isExact)
        #expect(again.files.count == 1)
    }

    @Test("Content that is no audio ends its download where that is known")
    func noAudio() throws {
        service.serve([0xFF, 0xD8, 0xFF] + [UInt8](repeating: 0x78, count: 600_000), as: "7")
        service.hang(after: 500_000)
        let offline = try OfflineFixture(service)
        #expect(offline.engine.offline(OfflineFixture.product(7)))
        try offline.spin("the failure") { offline.log.events.count == 2 }
        #expect(offline.log.events.last?.hasPrefix("failed") == true)
        #expect(service.hangingTransfers == 0 && offline.files == [])
    }

    @Test("The bytes after the samples are downloaded too", arguments: [1, 200_001])
    func tail(_ count: Int) throws {
        let file = wav(frames: 100_000, tail: count)
        service.serve(file, as: "7")
        let offline = try OfflineFixture(service)
        try offline.keep(7)
        #expect(offline.entries().first?.bytes == Int64(file.count))
    }

    @Test("A file whose length nobody tells is received whole before it is decoded")
    func unknownLength() throws {
        service.hideLengths()
        service.serve(wav(frames: 100_000, declared: 0x7FFF_FFFF), as: "7")
        let offline = try OfflineFixture(service)
        try offline.keep(7)
    }
}
