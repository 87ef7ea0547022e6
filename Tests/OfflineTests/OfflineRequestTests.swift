import Foundation
import Network
import OfflineTestSupport
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Playback
@testable import Player

@Suite("Requests to the service for an offline copy (docs/playback.md, 16.1, 16.3 and 16.6)", .serialized)
struct OfflineRequestTests {
    private let folder: ScratchFolder
    private let track: Track
    private let other: Track
    private let service = OfflineTestService()

    init() throws {
        folder = try ScratchFolder()
        track = try Track("a", frames: 50_000, in: folder)
        other = try Track("b", frames: 40_000, in: folder)
        service.serve(try track.file, as: "7")
        service.setDates(revalidateAt: 1_000_100, validUntil: 1_000_200)
    }

    @Test("A validation asks as it was asked the first time, whatever the quality is now, and so does its download")
    func identical() throws {
        let state: ScratchFolder
        do {
            let offline = try OfflineFixture(service)
            state = offline.folder
            try offline.keep(7)
            offline.player.offlineEngineConfig.offlineAudioQuality = .low
            offline.player.offlineEngineConfig.offlineVideoQuality = .low
        }
        service.setDates(revalidateAt: 2_000_000, validUntil: 3_000_000)
        do {
            let offline = try OfflineFixture(in: state, service, now: 1_000_101)
            try offline.spin("the validation") { offline.entries().first?.validUntil == 3_000_000 }
            #expect(offline.player.offlineEngineConfig.offlineAudioQuality == .low)
        }
        service.serve(try other.file, as: "7", hash: "h2")
        service.setDates(revalidateAt: 5_000_000, validUntil: 6_000_000)
        let offline = try OfflineFixture(in: state, service, now: 2_000_001)
        try offline.wait(for: "done r7")
        let asked = service.infoAddresses
        #expect(asked.count == 4 && Set(asked).count == 1, "\(asked)")
        let first = try #require(asked.first)
        #expect(first.contains("audioquality=LOSSLESS") && first.contains("playbackmode=OFFLINE"), "\(first)")
    }

    @Test("The configuration is there after a restart, and decides what is asked for then")
    func configuration() throws {
        let state: ScratchFolder
        do {
            let offline = try OfflineFixture(service)
            state = offline.folder
            let configuration = offline.player.offlineEngineConfig
            #expect(configuration.offlineAudioQuality == .lossless)
            #expect(configuration.offlineVideoQuality == .high)
            #expect(!configuration.offlineOverCellular)
            configuration.offlineAudioQuality = .hiResLossless
            configuration.offlineVideoQuality = .medium
            configuration.offlineOverCellular = true
        }
        let offline = try OfflineFixture(in: state, service, link: Link(.cellular))
        let configuration = offline.player.offlineEngineConfig
        #expect(configuration.offlineAudioQuality == .hiResLossless)
        #expect(configuration.offlineVideoQuality == .medium)
        #expect(configuration.offlineOverCellular)
        try offline.keep(7)
        #expect(service.infoAddresses.last?.contains("audioquality=HI_RES_LOSSLESS") == true)
        service.serve(try other.file, as: "video-7")
        let video = MediaProduct(productType: .video, productId: "tonearm:video/7", referenceId: "v7")
        #expect(offline.engine.offline(video))
        try offline.wait(for: "done v7")
        #expect(service.infoAddresses.last?.contains("videoquality=MEDIUM") == true)
    }

    @Test("A track and a video with the same id are two products")
    func types() throws {
        service.serve(try other.file, as: "video-7")
        let product = OfflineFixture.product(7)
        let video = MediaProduct(productType: .video, productId: "tonearm:video/7", referenceId: "v7")
        let offline = try OfflineFixture(service)
        try offline.keep(7)
        #expect(offline.engine.getOfflineState(video) == .notOfflined)
        #expect(offline.engine.offline(video))
        try offline.wait(for: "done v7")
        #expect(offline.engine.getOfflineState(video) == .offlinedAndValid)
        #expect(offline.entries().map { $0.product } == ["tonearm:track/7", "tonearm:video/7"])
        #expect(offline.files.count == 2)
        #expect(offline.engine.deleteOffline(product))
        #expect(offline.engine.getOfflineState(product) == .notOfflined)
        #expect(offline.engine.getOfflineState(video) == .offlinedAndValid)
        try offline.spin("the removal") { offline.files.count == 1 }
        let isEqual = try offline.played(other.frames, video) == other.samples
        #expect(isEqual)
        #expect(!offline.engine.deleteOffline(product))
        #expect(offline.engine.deleteOffline(video))
    }
}
