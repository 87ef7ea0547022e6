import Testing

@testable import Database

@Suite("How often the medium is written")
struct WriteBudgetTests {
    private static let second: Int64 = 1_000_000_000

    @Test("a burst of 12 is free, then one write every 5 s")
    func burst() {
        var budget = WriteBudget(at: 0)
        for _ in 0..<12 {
            #expect(budget.delay(at: 0) == 0)
            budget.spend(at: 0)
        }
        #expect(budget.delay(at: 0) == 5 * Self.second)
        #expect(budget.delay(at: 2 * Self.second) == 3 * Self.second)
        #expect(budget.delay(at: 5 * Self.second) == 0)
        budget.spend(at: 5 * Self.second)
        #expect(budget.delay(at: 5 * Self.second) == 5 * Self.second)
    }

    @Test("at most 12 writes a minute and a burst of 12, for all requests")
    func minutes() {
        var budget = WriteBudget(at: 7)
        var writes = 0
        for tick in 0..<(600 * 20) where budget.delay(at: 7 + Int64(tick) * 50_000_000) == 0 {
            budget.spend(at: 7 + Int64(tick) * 50_000_000)
            writes += 1
        }
        #expect(writes == 12 + 119)
    }

    @Test("a rest restores the burst, and no more")
    func rest() {
        var budget = WriteBudget(at: 0)
        for _ in 0..<12 { budget.spend(at: 0) }
        let later = 3600 * Self.second
        for _ in 0..<12 {
            #expect(budget.delay(at: later) == 0)
            budget.spend(at: later)
        }
        #expect(budget.delay(at: later) == 5 * Self.second)
    }

    @Test("writes that cannot wait leave no debt, and a clock that stands or goes back does no harm")
    func urgent() {
        var budget = WriteBudget(at: 0)
        for _ in 0..<1000 { budget.spend(at: 0) }
        #expect(budget.delay(at: 5 * Self.second) == 0)
        #expect(budget.delay(at: -5 * Self.second) >= 5 * Self.second)
    }
}
