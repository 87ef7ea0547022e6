import Database
import Foundation
import Media
import Network
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Offline
@testable import Playback
@testable import Player

@Suite("The licenses of offline copies (docs/playback.md, 16.6)", .serialized)
struct OfflineLicenseTests {
    private static let otherKey = [UInt8](17...32)

    private let folder: ScratchFolder
    private let service = ScriptedService()
    /// The answer for playbackinfo.
    private let info = Locked("")
    /// The key that the license server has; nil: it refuses.
    private let key = Locked<[UInt8]?>(EncryptedTrack.key)
    private let licenseRequests = Locked(0)

    init() throws {
        folder = try ScratchFolder()
        let file = try EncryptedTrack.file(of: try Track("a", frames: 50_000, in: folder), in: folder)
        let (info, key, requests) = (info, key, licenseRequests)
        service.playbackinfo = { _, _ in (200, info.value) }
        service.content = { _, transfer in
            guard case .post = transfer.request.method else {
                ScriptedService.serve(file, to: transfer)
                return transfer.end()
            }
            requests.set(requests.value + 1)
            guard let key = key.value else { return transfer.answer(403) }
            let text = Data(key).base64EncodedString().filter { $0 != "=" }
            let answer = #"{"keys":[{"kty":"oct","kid":"AAAAAAAAAAAAAAAAAAAAAA","k":"\#(text)"}]}"#
            transfer.answer(200, [], Array(answer.utf8))
        }
    }

    private func answer(revalidateAt: Int, validUntil: Int, hasLicense: Bool = true) {
        let manifest = #"{"mimeType": "audio/mp4", "codecs": "flac", "urls": ["https://content/a"]}"#
        let license = #""licenseUrl": "https://licenses/clear", "licenseSecurityToken": "t","#
        info.set(
            """
            {"trackId": 42, "assetPresentation": "FULL", "audioMode": "STEREO", "audioQuality": "LOSSLESS",
             \(hasLicense ? license : "") "offlineRevalidateAt": \(revalidateAt), "offlineValidUntil": \(validUntil),
             "manifestHash": "h1", "manifestMimeType": "application/vnd.tidal.bts",
             "manifest": "\(Data(manifest.utf8).base64EncodedString())"}
            """)
    }

    /// The state with a product that is due from 1,000,101 s on, and its row.
    private func kept() throws -> (state: ScratchFolder, item: OfflineItem) {
        answer(revalidateAt: 1_000_100, validUntil: 1_000_200)
        let offline = try OfflineFixture(network: service.network)
        try offline.keep(7)
        let item = try item(in: offline)
        #expect(keys(of: item, in: offline) == [EncryptedTrack.key])
        return (offline.folder, item)
    }

    private func item(in offline: OfflineFixture) throws -> OfflineItem {
        let stored = offline.store.waitToRead { (rows) throws(DatabaseError) in
            try rows.item(ServiceAddress(.track, "7"))
        }
        return try #require(stored ?? nil)
    }

    /// The keys of its license.
    private func keys(of item: OfflineItem, in offline: OfflineFixture) -> Set<[UInt8]> {
        guard let sealed = item.sealedLicense, let bytes = offline.store.open(sealed, for: item.content),
            let license = OfflineLicense(bytes: bytes)
        else { return [] }
        return Set(license.keys.map { $0.value })
    }

    @Test("The same content with a license: the new one replaces the old one, and nothing else is fetched")
    func renewed() throws {
        let (state, former) = try kept()
        let requests = licenseRequests.value
        key.set(Self.otherKey)
        answer(revalidateAt: 5_000_000, validUntil: 6_000_000)
        let offline = try OfflineFixture(in: state, network: service.network, now: 1_000_101)
        try offline.spin("the validation") { offline.entries().first?.validUntil == 6_000_000 }
        let item = try item(in: offline)
        #expect(keys(of: item, in: offline) == [Self.otherKey])
        #expect(item.content == former.content && item.sealedKey == former.sealedKey)
        #expect(licenseRequests.value > requests)
        #expect(offline.log.lines == [])
    }

    @Test("A license that is refused changes nothing, neither keys nor dates")
    func refused() throws {
        let (state, former) = try kept()
        let requests = licenseRequests.value
        key.set(nil)
        answer(revalidateAt: 5_000_000, validUntil: 6_000_000)
        do {
            let offline = try OfflineFixture(in: state, network: service.network, now: 1_000_101)
            try offline.spin("the request") { licenseRequests.value > requests }
            #expect(offline.log.lines == [])
        }
        let offline = try OfflineFixture(in: state, network: service.network, link: nil, now: 1_000_101)
        #expect(try item(in: offline) == former)
        #expect(offline.engine.getOfflineState(OfflineFixture.product(7)) == .offlinedAndValid)
    }

    @Test("The bytes of a download are dropped only when they are useless, and not for a missing license")
    func isOfContent() {
        let ofContent: [OfflineFailure] = [
            .media(.damaged(what: "x")), .media(.notAudio(looksLike: nil)), .media(.empty),
            .media(.unsupported(what: "x")),
            .media(.source(.integrity(reason: "x"))),
            .media(.source(.medium(SystemError(code: EIO, operation: "read", subject: "x")))),
        ]
        let others: [OfflineFailure] = [
            .stopped, .noSpace, .media(.source(.status(403))), .media(.source(.status(503))),
            .media(.source(.network(reason: "x"))), .media(.source(.cancelled)),
            .media(.license(reason: "x")), .media(.missingKey(id: [])), .media(.protected(by: "x")),
            .medium(SystemError(code: EROFS, operation: "write", subject: "x")),
            .media(.source(.medium(SystemError(code: EMFILE, operation: "open", subject: "x")))),
        ]
        #expect(ofContent.allSatisfy { $0.isOfContent } && !others.contains { $0.isOfContent })
    }

    @Test("A license server that asks for an hour ends the validation, and the next product has its turn")
    func busy() throws {
        answer(revalidateAt: 1_000_100, validUntil: 1_000_200)
        let state: ScratchFolder
        do {
            let offline = try OfflineFixture(network: service.network)
            for id in [7, 8] { try offline.keep(id) }
            state = offline.folder
        }
        let infos = Locked(0)
        service.playbackinfo = { [info] _, _ in
            infos.set(infos.value + 1)
            return (200, info.value)
        }
        service.content = { _, transfer in transfer.answer(503, [("Retry-After", "3600")]) }
        answer(revalidateAt: 5_000_000, validUntil: 6_000_000)
        let offline = try OfflineFixture(in: state, network: service.network, now: 1_000_101)
        try offline.spin("both validations") { infos.value == 2 }
        #expect(offline.entries().map { $0.validUntil } == [1_000_200, 1_000_200])
    }

    @Test("Without a token the old license stays, with the new dates")
    func withoutToken() throws {
        let (state, former) = try kept()
        let requests = licenseRequests.value
        answer(revalidateAt: 5_000_000, validUntil: 6_000_000, hasLicense: false)
        let offline = try OfflineFixture(in: state, network: service.network, now: 1_000_101)
        try offline.spin("the validation") { offline.entries().first?.validUntil == 6_000_000 }
        #expect(try item(in: offline).sealedLicense == former.sealedLicense)
        #expect(licenseRequests.value == requests)
    }
}
