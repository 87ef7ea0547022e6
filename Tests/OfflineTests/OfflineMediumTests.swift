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

/// The storage folder on a medium of its own that is full, read-only or belongs to another user.
@Suite("Downloading products on a medium that refuses (docs/playback.md, 16.5)", .serialized)
struct OfflineMediumTests {
    private let folder: ScratchFolder
    private let track: Track
    private let file: [UInt8]
    private let service = OfflineTestService()
    private let state: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
        state = try ScratchFolder()
        track = try Track("a", frames: 400_000, in: folder)
        file = try track.file
        for id in ["7", "8"] { service.serve(file, as: id) }
    }

    @Test(
        "A full medium: the download waits, offline copies play, and it goes on with room",
        .enabled(if: Medium.isAvailable))
    func full() throws {
        let medium = try Medium(at: state["offline"], kilobytes: 16 << 10)
        let offline = try OfflineFixture(in: state, service)
        try offline.keep(7)
        medium.fill()
        #expect(offline.engine.offline(OfflineFixture.product(8)))
        try offline.spin("the wait") { offline.status(of: 8) == .waiting(.space) }
        #expect(try offline.played(track.frames) == track.samples)
        medium.empty()
        // Something was removed.
        #expect(offline.engine.deleteOffline(OfflineFixture.product(7)))
        try offline.wait(for: "done r8")
    }

    @Test(
        "A medium that somebody else fills in the middle: what has arrived stays, and it goes on with room",
        .enabled(if: Medium.isAvailable))
    func fills() throws {
        let medium = try Medium(at: state["offline"], kilobytes: 16 << 10)
        let offline = try OfflineFixture(in: state, service)
        try offline.keep(7)
        let arrived = try offline.downloadPart(of: 8, file, percent: 50)
        medium.fill()
        service.release()
        try offline.spin("the wait") { offline.status(of: 8) == .waiting(.space) }
        #expect(try offline.played(track.frames) == track.samples)
        medium.empty()
        #expect(offline.engine.deleteOffline(OfflineFixture.product(7)))
        try offline.wait(for: "done r8")
        #expect(service.contentRequests.last?.from == arrived / SealedLayout.chunkCount * SealedLayout.chunkCount)
        #expect(try offline.played(track.frames, of: 8) == track.samples)
    }

    @Test("A read-only medium: a download fails and says why, offline copies play", .enabled(if: Medium.isAvailable))
    func readOnly() throws {
        let medium = try Medium(at: state["offline"], kilobytes: 32 << 10)
        let offline = try OfflineFixture(in: state, service)
        try offline.keep(7)
        try medium.setReadOnly(true)
        #expect(offline.engine.offline(OfflineFixture.product(8)))
        try offline.spin("the failure") { offline.log.failure != nil }
        guard case .failed(let reason) = offline.status(of: 8) else { return #expect(Bool(false)) }
        #expect(reason.contains("read-only") || reason.contains("Read-only"), "\(reason)")
        #expect(offline.engine.getOfflineState(OfflineFixture.product(7)) == .offlinedAndValid)
        #expect(try offline.played(track.frames) == track.samples)
        try medium.setReadOnly(false)
        try offline.keep(8)
        #expect(service.contentRequests.filter { $0.product == "7" }.count == 1)
    }

    @Test("Files that may not be read are an error, and are neither lost nor fetched again")
    func denied() throws {
        let owner = FileAccess.current
        try state.give(to: FileAccess.nobody)
        // The threads of the player also run as that user.
        FileAccess.nobody.take()
        defer { owner.take() }
        let offline = try OfflineFixture(in: state, service)
        try offline.keep(7)
        let path = try onlyOfflineCopy(in: state["offline"])
        chmod(path, 0)
        offline.fixture.engine.load(OfflineFixture.product(7))
        offline.fixture.engine.play()
        try offline.spin("the error") { offline.fixture.messages.contains { $0.hasPrefix("error") } }
        #expect(offline.engine.getOfflineState(OfflineFixture.product(7)) == .offlinedAndValid)
        #expect(offline.entries().map { $0.status } == [.complete])
        // Also by command: a file that may not be read shows nothing about its content.
        let answers = Recorder<OfflineVerification>()
        offline.engine.verify(OfflineFixture.product(7)) { answers.record($0) }
        try offline.spin("the answer") { answers.elements.count == 1 }
        guard case .unreadable(let denial) = answers.elements.first else { return #expect(Bool(false)) }
        #expect(denial.contains("ermission"), "\(denial)")
        #expect(offline.entries().map { $0.status } == [.complete])
        chmod(path, 0o600)
        #expect(try offline.played(track.frames) == track.samples)
        // A folder that may not be written.
        for name in try FileManager.default.contentsOfDirectory(atPath: state["offline"]) {
            chmod(state["offline/\(name)"], 0o500)
        }
        chmod(state["offline"], 0o500)
        #expect(offline.engine.offline(OfflineFixture.product(8)))
        try offline.spin("the failure") { offline.log.failure != nil }
        guard case .failed(let reason) = offline.status(of: 8) else { return #expect(Bool(false)) }
        #expect(reason.contains("ermission"), "\(reason)")
        #expect(service.contentRequests.filter { $0.product == "7" }.count == 1)
    }
}

/// The user with whose rights a thread, and those that it starts, use files.
private struct FileAccess {
    let user: UInt32

    static let nobody = FileAccess(user: geteuid() == 0 ? 65_534 : geteuid())
    static var current: FileAccess { FileAccess(user: geteuid()) }

    func take() {
        typealias SetUser = @convention(c) (UInt32) -> Int32
        guard let address = dlsym(nil, "setfsuid") else { return }
        _ = unsafeBitCast(address, to: SetUser.self)(user)
    }
}

extension ScratchFolder {
    fileprivate func give(to access: FileAccess) throws {
        guard chown(path, access.user, getegid()) == 0 else { throw POSIXError(.EPERM) }
    }
}
