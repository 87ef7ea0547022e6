import Network
import Testing

@testable import Fetching
@testable import Streaming

@Suite("How long the load of a live playlist may be silent (docs/playback.md, 15.12)")
struct PlaylistPaceTests {
    @Test("It doubles after each silence, up to two minutes, and halves after each load, down to a target duration")
    func silences() {
        var pace = PlaylistPace(interval: 6, LivePatience(targetDuration: 6), at: 0)
        var limits = [pace.longestSilence]
        for _ in 0..<6 {
            pace.failed(.transfer(.timeOut(.body)), at: 0)
            limits.append(pace.longestSilence)
        }
        #expect(limits == [6000, 12_000, 24_000, 48_000, 96_000, 120_000, 120_000])
        // A server that is slow stays slow: one load is no reason for the shortest limit.
        limits = (0..<6).map { _ in
            pace.succeeded()
            return pace.longestSilence
        }
        #expect(limits == [60_000, 30_000, 15_000, 7500, 6000, 6000] && pace.failure == nil)
    }

    @Test(
        "Other failures than silence do not change it",
        arguments: [
            ResourceFailure.changed, .transfer(.connection(.lost)), .refused(ServiceRefusal(status: 503)),
        ])
    func others(failure: ResourceFailure) {
        var pace = PlaylistPace(interval: 1, LivePatience(targetDuration: 1), at: 0)
        pace.failed(failure, at: 0)
        #expect(pace.longestSilence == 4000 && pace.failure == failure)
        pace.failed(.transfer(.timeOut(.firstByte)), at: 0)
        pace.failed(failure, at: 0)
        #expect(pace.longestSilence == 8000)
    }
}
