import Testing

@testable import Platform

@Suite("The places of clients (docs/decisions/places-for-clients.md)")
struct ClientPlacesTests {
    /// Clients of these networks, the first of which has the oldest request.
    private func clients(_ networks: [UInt8]) -> [ClientPlaces.Client] {
        networks.enumerated().map { index, network in
            ClientPlaces.Client(number: UInt64(index), network: [network], lastRequest: Int64(index))
        }
    }

    @Test(
        "The network with the most clients makes room for one that has at least two fewer",
        arguments: [
            ([1, 1, 1], 1, .welcome), ([1, 1, 1, 1], 1, .refuse), ([1, 1, 1, 1], 2, .replace(0)),
            ([2, 1, 1, 1], 2, .replace(1)), ([1, 2, 2, 1], 2, .refuse), ([1, 2, 2, 1], 3, .replace(0)),
            ([3, 2, 2, 1], 4, .replace(1)), ([1, 2, 3, 4], 5, .refuse), ([2, 2, 2, 1], 1, .replace(0)),
        ] as [([UInt8], UInt8, ClientPlaces.Decision)])
    func decision(networks: [UInt8], newcomer: UInt8, decision: ClientPlaces.Decision) {
        #expect(ClientPlaces(limit: 4).decide(for: [newcomer], among: clients(networks)) == decision)
    }

    @Test("A client whose request was long ago makes room first")
    func oldest() {
        var all = clients([1, 1, 1, 1])
        all[2].lastRequest = -5
        #expect(ClientPlaces(limit: 4).decide(for: [2], among: all) == .replace(2))
    }

    @Test("A network is 64 bits of a global address of IPv6, and every other address by itself")
    func networks() {
        let global: [UInt8] = [0x20, 1, 0xD, 0xB8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1]
        #expect(ClientPlaces.network(of: global) == Array(global.prefix(8)))
        for start in [[0xFE, 0x80], [0xFD, 0], [0, 0]] as [[UInt8]] {
            let local = start + [UInt8](repeating: 7, count: 14)
            #expect(ClientPlaces.network(of: local) == local)
        }
        #expect(ClientPlaces.network(of: []) == [])
    }
}
