import TestSupport
import Testing

@testable import Discovery

@Suite("Links, their changes, and the end")
struct LinkTests {
    private func link(_ index: Int32 = 1, _ addresses: [UInt8]...) -> DiscoveryLink {
        DiscoveryLink(
            index: index, addresses: addresses.map { .init(address: IPAddress(bytes: $0), prefixLength: 24) })
    }

    @Test("Each link has its own addresses, and is probed when it comes")
    func secondLink() throws {
        var machine = Machine.established()
        machine.update([Machine.link, link(2, [192, 168, 1, 5])])
        machine.run(for: 5000)
        #expect(machine.sent.allSatisfy { $0.packet.link == 2 })
        #expect(machine.sent.probes.count == 3 && machine.sent.responses.count == 2)
        let addresses = machine.sent.responses[0].message.answers.filter { $0.name == Machine.host }
        #expect(addresses.map(\.data) == [.address4([192, 168, 1, 5])])
    }

    @Test("A changed address is announced again without a probe, and the lost version ends")
    func changedAddress() throws {
        var machine = Machine.established()
        machine.update([link(1, [10, 0, 0, 7])])
        machine.run(for: 5000)
        #expect(machine.sent.probes.isEmpty && machine.sent.count == 3)
        let (end, first) = (machine.sent[0], machine.sent[1])
        #expect(end.isGoodbye && end.message.answers.map { $0.data.type } == [DNSType.address6])
        #expect(first.message.answers.contains { $0.data == .address4([10, 0, 0, 7]) && $0.isUnique })
        #expect(machine.sent[2].time - first.time == 1000)
    }

    @Test("Addresses that follow each other quickly are announced once a second")
    func manyChanges() {
        var machine = Machine.established()
        for last in 10..<40 as Range<UInt8> {
            machine.update([link(1, [10, 0, 0, last])])
            machine.run(for: 100)
        }
        machine.run(for: 5000)
        let times = machine.sent.filter { !$0.isGoodbye }.times
        #expect(times.count <= 6 && zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= 1000 })
        #expect(machine.sent.last?.message.answers.contains { $0.data == .address4([10, 0, 0, 39]) } == true)
    }

    @Test("The same addresses change nothing; no addresses, or passing ones, are no link")
    func noChange() {
        var machine = Machine.established()
        machine.update([Machine.link])
        #expect(machine.responder.nextWakeUp == nil)
        var passing = Machine.link
        for index in passing.addresses.indices { passing.addresses[index].isAnnounced = false }
        machine.update([passing, DiscoveryLink(index: 3, addresses: [])])
        machine.run(for: 5000)
        #expect(machine.sent.isEmpty && machine.responder.nextWakeUp == nil)
    }

    @Test("A link that was away is probed again")
    func returnedLink() {
        var machine = Machine.established()
        machine.update([])
        #expect(machine.responder.nextWakeUp == nil)
        machine.run(for: 1000)
        machine.update([Machine.link])
        machine.run(for: 5000)
        #expect(machine.sent.probes.count == 3 && machine.responder.isEstablished)
    }

    @Test("A conflict on one link renames on all")
    func conflictOfOneLink() {
        var machine = Machine.established()
        machine.update([Machine.link, link(2, [192, 168, 1, 5])])
        machine.run(for: 300)
        machine.receive(
            Machine.response(DNSRecord(name: Machine.host, data: .address4([192, 168, 1, 9]), ttl: 120)),
            from: Endpoint(address: IPAddress(bytes: [192, 168, 1, 9]), port: 5353), link: 2)
        machine.run(for: 5000)
        let name = DNSName(unchecked: "kitchen-2.local")
        for index in [1, 2] as [Int32] {
            let sent = machine.sent.responses.filter { $0.packet.link == index }
            #expect(sent.count(of: name, DNSType.address4) == 2, "link \(index)")
        }
    }

    @Test("At the end everything that others may keep ends, apart from the types of services")
    func goodbye() throws {
        var machine = Machine.established()
        machine.stop()
        let message = try #require(machine.sent.first).message
        #expect(machine.sent.count == 1 && message.answers.allSatisfy { $0.ttl == 0 })
        #expect(message.answers.map { $0.data.type } == [1, 28, 12, 33, 16])
        #expect(machine.responder.nextWakeUp == nil)
        #expect(machine.answers(to: [Machine.query(Machine.type, DNSType.pointer)]).isEmpty)
    }

    @Test("Without an announcement there is no goodbye")
    func earlyEnd() {
        var machine = Machine()
        machine.run(for: 300)
        machine.forget()
        machine.stop()
        #expect(machine.sent.isEmpty)
    }

    @Test("Many services with long texts are sent in packets of at most 1,452 bytes")
    func manyServices() {
        let services = (0..<20).map { number in
            AnnouncedService(
                type: "_service\(number)._tcp", port: 80,
                texts: [String(repeating: "t", count: 250), String(repeating: "u", count: 256)])
        }
        var machine = Machine.established(services)
        let question = Machine.query(DNSName(unchecked: "_services._dns-sd._udp.local"), DNSType.pointer)
        #expect(machine.answers(to: [question]).count == 1)
        machine.forget()
        machine.stop()
        #expect(machine.sent.count > 3)
        #expect(machine.sent.allSatisfy { $0.packet.bytes.count <= 1452 })
        #expect(machine.sent.flatMap(\.message.answers).count == 2 + 20 * 3)
    }

    @Test(
        "An address is on the link when its network is",
        arguments: [
            ([10, 0, 0, 200], true), ([10, 0, 1, 1], false), ([169, 254, 3, 4], true), ([8, 8, 8, 8], false),
            ([0xFE, 0x80] + [UInt8](repeating: 7, count: 14), true),
            ([0x20, 1] + [UInt8](repeating: 7, count: 14), false),
        ] as [([UInt8], Bool)])
    func onLink(address: [UInt8], isOnLink: Bool) {
        #expect(Machine.link.has(IPAddress(bytes: address)) == isOnLink)
    }
}
