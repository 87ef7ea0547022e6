import ApplianceTestSupport
import Network
import Platform
import QueueTestSupport
import TestSupport
import Testing

@testable import Appliance
@testable import Playback
@testable import Player

@Suite("The content service is away (docs/playback.md, 12.9)")
struct ServiceAwayTests {
    /// Files of this machine, while the service is not away.
    private final class Source: PlaybackSource {
        let failure = Locked<PlayerError?>(nil)
        private let files = LocalFiles()

        func open(
            _ product: MediaProduct, session: PlaybackSession, cancellation: Cancellation, medium: MediumAccess
        ) throws(PlayerError) -> OpenedProduct {
            if var failure = failure.value {
                failure.mediaProduct = product
                throw failure
            }
            return try files.open(product, session: session, cancellation: cancellation, medium: medium)
        }
    }

    private static let failures = [
        PlayerError(.retryable, .service(status: 502, subStatus: nil), message: "it fails (status 502)."),
        PlayerError(.retryable, .foreign(status: 200), message: "a login page (status 200)."),
        PlayerError(.network, .media(.source(.network(reason: "TLS"))), message: "TLS."),
        PlayerError(.notAllowed, .service(status: 401, subStatus: 11003), message: "Log in with `tonearm login`."),
    ]
    /// The event that ends the wait.
    enum End: CaseIterable { case time, link, login }

    @Test("The last entry alone, whose content does not come: it stays, a problem says why, and it plays by itself")
    func lastEntry() throws {
        let (tracks, folder, source) = (try Tracks(), try ScratchFolder(), Source())
        let fixture = DaemonFixture(folder: folder["state"])
        fixture.source = source
        source.failure.set(
            PlayerError(
                .retryable, .media(.source(.foreign(status: 403, reason: "XML"))), message: "blocked (status 403)."))
        try fixture.start("[audio]\nnormalization = off")
        let products = try tracks.make("ab", frames: 20_000)
        try fixture.perform { try $0.queue.set(products, startingAt: 1, playing: true) }
        fixture.wait("the first wait") { $0.wait == .service(seconds: 1) }
        fixture.pass(seconds: 1)
        fixture.wait("the second wait") { $0.wait == .service(seconds: 2) }
        #expect(fixture.status.index == 1 && fixture.status.playback == .stalled)
        #expect(fixture.status.problems.first?.message.hasPrefix("blocked (status 403).") == true)
        source.failure.set(nil)
        fixture.pass(seconds: 2)
        fixture.waitForSound()
        fixture.play(300)
        #expect(fixture.card.heard == "b0-300" && fixture.status.problems == [])
        fixture.end()
    }

    @Test("The entry stays, a problem says why, and music goes on by itself", arguments: failures, End.allCases)
    func away(failure: PlayerError, end: End) throws {
        let (tracks, folder, source) = (try Tracks(), try ScratchFolder(), Source())
        let fixture = DaemonFixture(folder: folder["state"])
        fixture.source = source
        source.failure.set(failure)
        try fixture.start("[audio]\nnormalization = off")
        let products = try tracks.make("abc", frames: 20_000)
        try fixture.perform { try $0.queue.set(products, startingAt: 1, playing: true) }
        // Thirty seconds of it: after 1, 2, 4 and 8 s it is tried, and each time it waits again.
        for seconds in [1, 2, 4, 8, 16] as [Double] {
            fixture.wait("the wait of \(seconds) s") { $0.wait == .service(seconds: seconds) }
            let status = fixture.status
            #expect(status.playback == .stalled && status.index == 1)
            #expect(status.problems.map(\.subject) == ["service"])
            #expect(status.problems.first?.message.hasPrefix(failure.message) == true)
            if seconds < 16 { fixture.pass(seconds: Int64(seconds)) }
        }
        #expect(fixture.events.count { if case .failed = $0 { true } else { false } } == 1, "it is told once")
        source.failure.set(nil)
        switch end {
        case .time: fixture.pass(seconds: 16)
        case .link: fixture.perform { $0.linkChanged(to: Link(.wifi)) }
        case .login: fixture.perform { $0.loginChanged() }
        }
        fixture.waitForSound()
        fixture.play(300)
        #expect(fixture.card.heard == "b0-300")
        #expect(fixture.status.problems == [] && fixture.status.wait == nil)
        fixture.end()
    }
}
