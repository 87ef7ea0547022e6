import Testing

@testable import Fetching
@testable import Player

@Suite("When a request is repeated")
struct RetryScheduleTests {
    /// Delays in milliseconds after each failure; nil for none.
    private func delays(_ purpose: RetrySchedule.Purpose, _ failures: [RetrySchedule.Failure]) -> [Int64?] {
        var schedule = RetrySchedule(purpose)
        return failures.map { schedule.delay(after: $0).map { $0 / 1_000_000 } }
    }

    @Test("Playback: three retries after 5XX and 429, the delays double")
    func playback() {
        let failures = [RetrySchedule.Failure](repeating: .server(retryAfter: nil), count: 5)
        #expect(delays(.playback, failures) == [500, 1000, 2000, nil, nil])
    }

    @Test("Offlining: nine retries")
    func offlining() {
        let failures = [RetrySchedule.Failure](repeating: .server(retryAfter: nil), count: 10)
        #expect(
            delays(.offlining, failures) == [500, 1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, nil])
    }

    @Test(
        "The network: without end, every 30 s at the latest", arguments: [RetrySchedule.Purpose.playback, .offlining])
    func network(purpose: RetrySchedule.Purpose) {
        let failures = [RetrySchedule.Failure](repeating: .network, count: 100)
        let expected: [Int64?] = [500, 1000, 2000, 4000, 8000, 16_000] + [Int64?](repeating: 30_000, count: 94)
        #expect(delays(purpose, failures) == expected)
    }

    @Test("An address that may never work: four retries, and without end when bytes have arrived")
    func opening() {
        let failures = [RetrySchedule.Failure](repeating: .network, count: 6)
        #expect(delays(.opening, failures) == [500, 1000, 2000, 4000, nil, nil])
        #expect(delays(.opening, [.server(retryAfter: 60), .server(retryAfter: 61)]) == [60_000, nil])
        #expect(RetrySchedule.Purpose.opening.onArrival == .playback)
        #expect(RetrySchedule.Purpose.offlining.onArrival == .offlining)
    }

    @Test("A command: a person learns at once that there is no network, and waits for a server that fails")
    func command() {
        #expect(delays(.command, [.network]) == [nil])
        let failures = [RetrySchedule.Failure](repeating: .server(retryAfter: nil), count: 4)
        #expect(delays(.command, failures) == [500, 1000, 2000, nil])
    }

    @Test("A validation: three retries of both kinds, and it waits for no hour, because others wait behind it")
    func validation() {
        let network = [RetrySchedule.Failure](repeating: .network, count: 4)
        #expect(delays(.validation, network) == [500, 1000, 2000, nil])
        let server = [RetrySchedule.Failure](repeating: .server(retryAfter: nil), count: 4)
        #expect(delays(.validation, server) == [500, 1000, 2000, nil])
        #expect(delays(.validation, [.server(retryAfter: 60), .server(retryAfter: 61)]) == [60_000, nil])
    }

    @Test("Failures of the network and of the server are counted apart")
    func both() {
        #expect(
            delays(.playback, [.network, .server(retryAfter: nil), .network, .server(retryAfter: nil)])
                == [500, 500, 1000, 1000])
    }

    @Test("Retry-After counts when it is longer; absurd ones are an hour at most")
    func retryAfter() {
        let asked: [RetrySchedule.Failure] = [.server(retryAfter: 7), .server(retryAfter: 0), .server(retryAfter: -5)]
        #expect(delays(.playback, asked) == [7000, 1000, 2000])
        #expect(delays(.playback, [.server(retryAfter: .max), .server(retryAfter: .min)]) == [3_600_000, 1000])
    }
}
