import ApplianceTestSupport
import Testing

@testable import Appliance

@Suite("Limits of wrong passwords")
struct PasswordLimitTests {
    private let address: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 168, 1, 5]

    @Test("After four wrong passwords each further one doubles the wait, up to five minutes")
    func doubling() {
        var limit = PasswordLimit()
        for _ in 1...4 {
            limit.failed(address, at: 100)
            #expect(limit.wait(for: address, at: 100) == 0)
        }
        var now: Int64 = 100
        for wait in [2, 4, 8, 16, 32, 64, 128, 256, 300, 300] as [Int64] {
            limit.failed(address, at: now)
            #expect(limit.wait(for: address, at: now) == wait)
            now += wait
            #expect(limit.wait(for: address, at: now) == 0)
        }
        limit.failed(address, at: now)
        limit.succeeded(address)
        #expect(limit.wait(for: address, at: now) == 0)
    }

    @Test("Other addresses do not wait; those of one IPv6 network do")
    func networks() {
        var limit = PasswordLimit()
        let first: [UInt8] = [0x20, 1, 0xD, 0xB8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1]
        var (neighbour, other) = (first, first)
        neighbour[15] = 2
        other[7] = 2
        for _ in 1...5 { limit.failed(first, at: 0) }
        #expect(limit.wait(for: neighbour, at: 0) == 2)
        #expect(limit.wait(for: other, at: 0) == 0)
        #expect(limit.wait(for: address, at: 0) == 0)
        // A machine of the house does not lock out the others.
        var (local, another) = (first, first)
        local.replaceSubrange(0..<2, with: [0xFE, 0x80])
        another.replaceSubrange(0..<2, with: [0xFE, 0x80])
        another[15] = 2
        for _ in 1...5 { limit.failed(local, at: 0) }
        #expect(limit.wait(for: local, at: 0) == 2 && limit.wait(for: another, at: 0) == 0)
    }

    private func other(_ number: Int) -> [UInt8] {
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 0, UInt8(number >> 8), UInt8(number & 0xFF)]
    }

    /// Tries a wrong password once from each of these addresses, and returns how many were compared.
    private func guess(_ limit: inout PasswordLimit, _ addresses: Range<Int>, at now: Int64) -> Int {
        var count = 0
        for number in addresses where limit.wait(for: other(number), at: now) == 0 {
            limit.failed(other(number), at: now)
            count += 1
        }
        return count
    }

    @Test("Many addresses have 20 attempts together, and another one each 30 s")
    func common() {
        var limit = PasswordLimit()
        #expect(guess(&limit, 0..<400, at: 0) == 20)
        #expect(limit.wait(for: other(500), at: 0) == 30)
        #expect(guess(&limit, 400..<800, at: 29) == 0)
        #expect(guess(&limit, 400..<800, at: 30) == 1)
        #expect(guess(&limit, 800..<1200, at: 30 + 300) == 10)
        #expect(guess(&limit, 0..<400, at: 100_000) == 20)
    }

    @Test("An address that has given the password is not delayed by others, and only by its own failures")
    func known() {
        var limit = PasswordLimit()
        limit.failed(address, at: 0)
        limit.succeeded(address)
        // The right password took nothing of the others' attempts.
        #expect(guess(&limit, 0..<400, at: 0) == 20)
        #expect(limit.wait(for: address, at: 0) == 0)
        for _ in 1...5 { limit.failed(address, at: 0) }
        #expect(limit.wait(for: address, at: 0) == 2)
        #expect(guess(&limit, 400..<800, at: 30) == 1)
        for number in 0..<PasswordLimit.knownLimit { limit.succeeded(other(number)) }
        for number in 1000..<1100 { limit.failed(other(number), at: 40) }
        #expect(limit.wait(for: address, at: 50) > 0)
    }

    @Test("The number of addresses is bounded, and the oldest is forgotten first")
    func bounded() {
        var limit = PasswordLimit()
        let soon: Int64 = 0
        for number in 0..<PasswordLimit.addressLimit { limit.failed(other(number), at: soon) }
        // Long after, only failures of an address itself count.
        for _ in 1...10 { limit.failed(other(0), at: 100_000) }
        #expect(limit.wait(for: other(0), at: 100_000) > 60)
        for number in 1...PasswordLimit.addressLimit { limit.failed(other(number), at: 100_000) }
        limit.succeeded(other(1))
        #expect(limit.wait(for: other(0), at: 200_000) == 0)
    }
}
