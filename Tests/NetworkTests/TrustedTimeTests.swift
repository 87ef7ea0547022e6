import Platform
import Testing

@testable import Network

@Suite("The time that certificates are checked against")
struct CertificateTimeTests {
    // @unchecked: used on the test's thread alone.
    private final class Source: SystemTimeSource, @unchecked Sendable {
        var time = SystemTime(sinceBoot: 0, boot: "first")
        func read() -> SystemTime { time }
    }

    // @unchecked: used on the test's thread alone.
    private final class Store: TrustedTimeStore, @unchecked Sendable {
        var record: TrustedTime.Record?
        func load() -> TrustedTime.Record? { record }
        func save(_ record: TrustedTime.Record) { self.record = record }
    }

    private let period = ValidityPeriod(notBefore: 1000, notAfter: 2000)

    @Test(
        "The date of a server, when the time is only the earliest possible one",
        arguments: [
            // The clock of the board begins before the certificate: the date decides.
            (500, 1000, .proves(1000)), (500, 2000, .proves(2000)), (500, 999, .refuses(.notYetValid)),
            (500, 2001, .refuses(.expired)), (500, nil, .refuses(.notYetValid)),
            // It is valid at the earliest possible time.
            (1500, 1700, .proves(1700)), (1500, 2001, .refuses(.expired)), (1500, nil, .nothing),
            (1500, 999, .nothing), (1500, 1200, .proves(1200)),
        ] as [(Int64, Int64?, ValidityPeriod.Judgement)])
    func unproved(now: Int64, date: Int64?, judgement: ValidityPeriod.Judgement) {
        #expect(period.judge(date: date, at: CertificateTime(now, isProved: false)) == judgement)
    }

    @Test(
        "The date of a server, when the time is known",
        arguments: [
            (1700, .proves(1700)), (999, .nothing), (2001, .nothing), (nil, .nothing),
        ] as [(Int64?, ValidityPeriod.Judgement)])
    func proved(date: Int64?, judgement: ValidityPeriod.Judgement) {
        #expect(period.judge(date: date, at: CertificateTime(1500, isProved: true)) == judgement)
    }

    @Test("A period without a time in it proves nothing, and does not trap")
    func emptyPeriod() {
        let period = ValidityPeriod(notBefore: .max, notAfter: .min)
        #expect(period.judge(date: 5, at: CertificateTime(1, isProved: false)) == .refuses(.expired))
    }

    @Test("The date of an answer over plain http is an estimate, and proves nothing")
    func plain() throws {
        let clock = TrustedClock(store: nil, source: Source())
        let network = try Network.forTests { $0.clock = TrustedCertificateClock(clock, released: 5000) }
        #expect(clock.read().estimate == nil)
        let (sink, error) = network.run(try Nginx.shared.get().url("/file"))
        #expect(error == nil)
        let date = try #require(sink.response?.date)
        let reading = clock.read()
        #expect(reading.estimate == date * 1000)
        #expect(reading.milliseconds == nil && !reading.isProved)
    }

    @Test("A board without a battery: release, the server's date, the next start, the system's clock")
    func board() {
        let (source, store) = (Source(), Store())
        let clock = TrustedCertificateClock(TrustedClock(store: store, source: source), released: 5000)
        #expect(clock.now() == CertificateTime(5000, isProved: false))
        clock.serverProves(4999)
        #expect(clock.now() == CertificateTime(5000, isProved: false))
        clock.serverProves(9000)
        #expect(clock.now() == CertificateTime(9000, isProved: true))
        // A day at most from now on, and never backwards.
        clock.serverProves(9000 + 86_401)
        clock.serverProves(8000)
        #expect(clock.now() == CertificateTime(9000, isProved: true))
        clock.serverProves(.max)
        #expect(clock.now() == CertificateTime(9000, isProved: true))
        // The power was off.
        source.time = SystemTime(sinceBoot: 7_000_000_000, boot: "second")
        let next = TrustedCertificateClock(TrustedClock(store: store, source: source), released: 5000)
        #expect(next.now() == CertificateTime(9000, isProved: false))
        source.time = SystemTime(sinceBoot: 8_000_000_000, boot: "second", synchronised: 20_000_000)
        #expect(next.now() == CertificateTime(20_000, isProved: true))
        // A newer version has been installed, and the clock of the system is wrong.
        let newer = TrustedCertificateClock(TrustedClock(store: store, source: source), released: 30_000)
        #expect(newer.now().seconds == 30_000)
    }
}
