import Crypto
import Foundation
import Network
import OfflineTestSupport
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Fetching
@testable import Player

/// A service that is reached over a metered link for some addresses, as `Network` reports it.
// @unchecked: its parts have locks.
private final class MeteredWay: ServiceNetwork, @unchecked Sendable {
    private final class Nothing: OngoingTransfer {
        func cancel() {}
        func resume() {}
    }

    let service: OfflineTestService
    /// Addresses that contain this text are reached over a metered link; nil: none.
    let metered = Locked<String?>(nil)
    /// Whether each request may use a metered link.
    let permissions = Recorder<Bool>()

    init(_ service: OfflineTestService) { self.service = service }

    func begin(_ request: TransferRequest, into sink: any TransferSink) -> any OngoingTransfer {
        permissions.record(request.mayUseMeteredLink)
        guard let metered = metered.value, request.url.contains(metered), !request.mayUseMeteredLink else {
            return service.begin(request, into: sink)
        }
        sink.ended(.meteredLink)
        return Nothing()
    }

    func schedule(after nanoseconds: Int64, _ action: @escaping @Sendable () -> Void) {
        service.schedule(after: nanoseconds, action)
    }

    func waitForLink(atMost nanoseconds: Int64, _ action: @escaping @Sendable (LinkWaitEnd) -> Void) {
        service.waitForLink(atMost: nanoseconds, action)
    }
}

@Suite("Downloads whose way is a metered link (docs/playback.md, 16.5)")
struct OfflineMeteredTests {
    private let file: [UInt8]
    private let service = OfflineTestService()
    private let way: MeteredWay
    /// The link is the cable all the time: only the way to the service changes.
    private let cable = Link(.ethernet)

    init() throws {
        let folder = try ScratchFolder()
        file = try Track("a", frames: 100_000, in: folder).file
        way = MeteredWay(service)
        for id in 7...9 { service.serve(file, as: "\(id)") }
    }

    @Test(
        "A download waits, does not fail, and goes on with the next change of a route",
        arguments: ["/playbackinfo", "https://content/"])
    func waits(address: String) throws {
        let offline = try OfflineFixture(service, network: way)
        way.metered.withLock { $0 = address }
        for id in 7...9 { #expect(offline.engine.offline(OfflineFixture.product(id))) }
        for id in 7...9 {
            try offline.spin("the wait") { offline.status(of: id) == .waiting(.unmeteredNetwork) }
        }
        #expect(offline.wait() == .unmeteredNetwork)
        let count = way.permissions.elements.count
        // Another route has changed, and it is the same.
        offline.player.linkChanged(to: cable)
        try offline.spin("another attempt") { way.permissions.elements.count >= count + 3 }
        try offline.spin("the wait") { offline.status(of: 9) == .waiting(.unmeteredNetwork) }
        way.metered.withLock { $0 = nil }
        offline.player.linkChanged(to: cable)
        for id in 7...9 { try offline.wait(for: "done r\(id)") }
        #expect(!offline.log.events.contains { $0.hasPrefix("failed") })
        #expect(way.permissions.elements.allSatisfy { !$0 })
    }

    @Test("One whose way is metered does not keep another one waiting")
    func other() throws {
        let offline = try OfflineFixture(service, network: way) { $0.parallelDownloads = 1 }
        way.metered.withLock { $0 = "https://content/7" }
        for id in 7...8 { #expect(offline.engine.offline(OfflineFixture.product(id))) }
        try offline.wait(for: "done r8")
        #expect(offline.status(of: 7) == .waiting(.unmeteredNetwork))
    }

    @Test("The bytes of a download stay when the route becomes metered in the middle")
    func middle() throws {
        let offline = try OfflineFixture(service, network: way)
        let arrived = try offline.downloadPart(file, percent: 50)
        way.metered.withLock { $0 = "https://" }
        // As the network ends it: another attempt finds out.
        offline.player.linkChanged(to: Link(.cellular))
        try offline.spin("the stop") { service.hangingTransfers == 0 }
        offline.player.linkChanged(to: Link(.cellular, hasUnmeteredRoute: true))
        try offline.spin("the wait") { offline.status(of: 7) == .waiting(.unmeteredNetwork) }
        way.metered.withLock { $0 = nil }
        offline.player.linkChanged(to: Link(.cellular, hasUnmeteredRoute: true))
        try offline.wait(for: "done r7")
        let full = arrived / SealedLayout.chunkCount * SealedLayout.chunkCount
        #expect(service.contentRequests.map { $0.from } == [0, full])
    }

    @Test("offlineOverCellular lets them use it; when it is off again, what runs stops and asks again")
    func permission() throws {
        let offline = try OfflineFixture(service, network: way)
        way.metered.withLock { $0 = "https://" }
        #expect(offline.engine.offline(OfflineFixture.product(7)))
        try offline.spin("the wait") { offline.status(of: 7) == .waiting(.unmeteredNetwork) }
        service.hang(after: file.count / 2)
        offline.player.offlineEngineConfig.offlineOverCellular = true
        try offline.spin("the transfer") { service.hangingTransfers == 1 }
        offline.player.offlineEngineConfig.offlineOverCellular = false
        try offline.spin("the stop") { service.hangingTransfers == 0 }
        try offline.spin("the wait") { offline.status(of: 7) == .waiting(.unmeteredNetwork) }
        #expect(Set(way.permissions.elements) == [false, true] && way.permissions.elements.last == false)
    }

    @Test("A validation waits as well, changes nothing, and comes with the next change of a route")
    func validation() throws {
        let state = try ScratchFolder()
        service.setDates(revalidateAt: 1_000_100, validUntil: 2_000_000)
        do {
            let offline = try OfflineFixture(in: state, service)
            try offline.keep(7)
        }
        way.metered.withLock { $0 = "https://" }
        service.setDates(revalidateAt: 5_000_000, validUntil: 6_000_000)
        let infos = service.infoRequests
        let offline = try OfflineFixture(in: state, service, network: way, now: 1_000_101)
        try offline.spin("the attempt") { way.permissions.elements == [false] }
        offline.player.linkChanged(to: cable)
        try offline.spin("another attempt") { way.permissions.elements.count >= 2 }
        #expect(service.infoRequests == infos && offline.entries().first?.validUntil == 2_000_000)
        way.metered.withLock { $0 = nil }
        offline.player.linkChanged(to: cable)
        try offline.spin("the validation") { offline.entries().first?.validUntil == 6_000_000 }
    }
}
