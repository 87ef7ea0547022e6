import TestSupport
import Testing

@testable import Discovery

@Suite("Probing, announcing and conflicts (RFC 6762, 8 and 9)")
struct ProbingTests {
    @Test(
        "Three probes 250 ms apart after 0 to 250 ms, then two announcements 1 s apart",
        arguments: 0..<20 as Range<UInt64>)
    func start(seed: UInt64) throws {
        var machine = Machine(seed: seed)
        #expect(machine.sent.isEmpty)
        machine.run(for: 60_000)
        let times = machine.sent.times
        let first = try #require(times.first)
        #expect((0...250).contains(first))
        #expect(times == [0, 250, 500, 750, 1750].map { first + $0 })
        #expect(machine.sent.probes.count == 3 && machine.responder.isEstablished)
        #expect(machine.responder.nextWakeUp == nil)
    }

    @Test("The random start differs")
    func randomStart() {
        let times = (0..<40 as Range<UInt64>).map { seed -> Int64 in
            var machine = Machine(seed: seed)
            machine.run(for: 300)
            return machine.sent.times[0]
        }
        #expect(Set(times).count > 20)
    }

    @Test("A probe asks for each name by unicast and proposes its records")
    func probe() {
        var machine = Machine()
        machine.run(for: 300)
        let message = machine.sent[0].message
        #expect(
            message.questions == [Machine.host, Machine.instance].map { Machine.query($0, DNSType.any, unicast: true) })
        let types = message.authorities.map { $0.data.type }
        #expect(types == [DNSType.address4, DNSType.address6, DNSType.service, DNSType.text])
        #expect(message.authorities.allSatisfy { !$0.isUnique })
    }

    @Test("An announcement has all records; those of one owner replace others")
    func announcement() throws {
        var machine = Machine()
        machine.run(for: 2000)
        let answers = try #require(machine.sent.responses.first).message.answers
        #expect(answers.map { $0.data.type } == [1, 28, 12, 12, 33, 16])
        #expect(answers.map { $0.isUnique } == [true, true, false, false, true, true])
        #expect(answers.map { $0.ttl } == [120, 120, 4500, 4500, 120, 4500])
        #expect(answers[3] == Machine.pointer() && answers[4] == Machine.service())
        #expect(answers[5].data == .text([0]))
    }

    @Test("While it probes it answers nothing")
    func silence() {
        var machine = Machine()
        machine.run(for: 300)
        machine.receive(DNSMessage())
        let sent = machine.answers(to: [Machine.query(Machine.type, DNSType.pointer)])
        #expect(sent.responses.isEmpty)
    }

    // MARK: Conflicts while probing

    @Test("A response with the name of the service renames the service")
    func instanceConflict() throws {
        var machine = Machine()
        machine.run(for: 300)
        machine.receive(Machine.response(Machine.service(host: DNSName(unchecked: "other.local"))))
        machine.forget()
        machine.run(for: 5000)
        #expect(machine.responder.names.instance == "Kitchen (2)" && machine.responder.names.host == "kitchen")
        #expect(machine.sent.probes.count == 3)
        let second = try #require(Machine.type.prefixed(by: Array("Kitchen (2)".utf8)))
        #expect(machine.sent.responses.count(of: second, DNSType.service) == 2)
        #expect(machine.sent.responses.count(of: Machine.instance, DNSType.service) == 0)
    }

    @Test(
        "A response with the name of the host renames the host, whatever the type, also in an additional record",
        arguments: [false, true])
    func hostConflict(isAdditional: Bool) throws {
        var machine = Machine()
        machine.run(for: 300)
        var response = Machine.response(
            DNSRecord(name: Machine.host, data: DNSData(type: 13, bytes: [1, 65]), ttl: 120))
        if isAdditional { swap(&response.answers, &response.additionals) }
        machine.receive(response)
        machine.run(for: 5000)
        #expect(machine.responder.names.instance == "Kitchen" && machine.responder.names.host == "kitchen-2")
        let host = DNSName(unchecked: "kitchen-2.local")
        let answers = try #require(machine.sent.responses.last).message.answers
        #expect(answers.contains(Machine.service(host: host)))
        #expect(answers.contains { $0.name == host && $0.data == .address4([10, 0, 0, 1]) })
    }

    @Test("Its own records, goodbyes, other names and denials are no conflicts")
    func noConflicts() {
        var machine = Machine()
        machine.run(for: 300)
        machine.receive(
            Machine.response(
                Machine.service(), Machine.service(80, ttl: 0), Machine.pointer(),
                DNSRecord(name: Machine.host, data: .absence([1]), ttl: 120),
                DNSRecord(name: DNSName(unchecked: "other.local"), data: .address4([10, 0, 0, 9]), ttl: 120)))
        // A response of a program that is no responder.
        machine.receive(
            Machine.response(Machine.service(80)), from: Endpoint(address: Machine.neighbour.address, port: 5454))
        machine.run(for: 5000)
        #expect(machine.responder.names.instance == "Kitchen" && machine.responder.names.host == "kitchen")
        #expect(machine.sent.probes.count == 3)
    }

    @Test("After 15 conflicts within 10 s each further attempt waits for 5 s")
    func slowConflicts() {
        var machine = Machine()
        var pauses: [Int64] = []
        for number in 1...18 {
            let count = machine.sent.count
            let start = machine.now
            while machine.sent.count == count { machine.run(for: 10) }
            pauses.append(machine.now - start)
            let name = number == 1 ? "kitchen.local" : "kitchen-\(number).local"
            machine.receive(
                Machine.response(DNSRecord(name: DNSName(unchecked: name), data: .address4([10, 0, 0, 9]), ttl: 120)))
        }
        #expect(machine.responder.names.host == "kitchen-19")
        #expect(pauses[..<15].allSatisfy { $0 <= 260 })
        #expect(pauses[15...].allSatisfy { (5000...5260).contains($0) })
    }

    // MARK: Two that probe at the same time

    @Test(
        "The one with the later address wins",
        arguments: [([10, 0, 0, 2], true), ([10, 0, 0, 0], false)] as [([UInt8], Bool)])
    func tieBreak(theirs: [UInt8], isLost: Bool) throws {
        var machine = Machine(links: [DiscoveryLink(index: 1, addresses: [Machine.link.addresses[0]])])
        machine.run(for: 300)
        let start = machine.now
        machine.receive(Machine.hostProbe(theirs))
        machine.forget()
        machine.run(for: 5000)
        let first = try #require(machine.sent.first)
        #expect(machine.sent.probes.count == (isLost ? 3 : 2))
        if isLost { #expect((1000...1250).contains(first.time - start)) }
        #expect(machine.responder.names.host == "kitchen")
    }

    @Test("The loser finds the name taken when it probes again")
    func loserRenames() {
        var machine = Machine(links: [DiscoveryLink(index: 1, addresses: [Machine.link.addresses[0]])])
        machine.run(for: 300)
        machine.receive(Machine.hostProbe([10, 0, 0, 2]))
        machine.run(for: 1300)
        machine.receive(
            Machine.response(DNSRecord(name: Machine.host, data: .address4([10, 0, 0, 2]), ttl: 120, isUnique: true)))
        machine.run(for: 3000)
        #expect(machine.responder.names.host == "kitchen-2" && machine.responder.isEstablished)
    }

    @Test("Its own probe, also of another interface, is no other machine's")
    func ownProbe() {
        let second = DiscoveryLink(
            index: 2, addresses: [.init(address: IPAddress(bytes: [10, 0, 0, 200]), prefixLength: 24)])
        var machine = Machine(links: [Machine.link, second])
        for _ in 0..<300 {
            let count = machine.sent.count
            machine.run(for: 10)
            for packet in machine.sent[count...].map(\.packet) where packet.destination == nil {
                // Both interfaces are in the same network.
                for link in [1, 2] as [Int32] { machine.receive(packet.bytes, from: Machine.neighbour, link: link) }
            }
        }
        #expect(machine.responder.names.instance == "Kitchen" && machine.responder.names.host == "kitchen")
        #expect(machine.sent.probes.count == 6 && machine.responder.isEstablished)
    }

    @Test(
        "Records are compared by type, data and number",
        arguments: [
            ([[169, 254, 99, 200]], [[169, 254, 200, 50]], true),
            ([[169, 254, 200, 50]], [[169, 254, 99, 200]], false),
            ([[1, 1, 1, 1]], [[1, 1, 1, 1]], false), ([[1, 1, 1, 1]], [[2, 2, 2, 2], [1, 1, 1, 1]], true),
            ([[2, 2, 2, 2], [1, 1, 1, 1]], [[1, 1, 1, 1]], false),
        ] as [([[UInt8]], [[UInt8]], Bool)])
    func comparison(ours: [[UInt8]], theirs: [[UInt8]], isLost: Bool) {
        func records(_ all: [[UInt8]]) -> [DNSRecord] {
            all.map { DNSRecord(name: Machine.host, data: .address4($0), ttl: 120) }
        }
        #expect(TieBreak.isLost(records(ours), against: records(theirs)) == isLost)
    }

    // MARK: Conflicts later

    @Test("An established name is defended at once")
    func defence() throws {
        var machine = Machine.established()
        machine.run(for: 60_000)
        machine.receive(Machine.hostProbe([10, 0, 0, 9]))
        let answer = try #require(machine.sent.first)
        #expect(answer.time == machine.now && answer.packet.destination == nil)
        #expect(machine.sent.count(of: Machine.host, DNSType.address4) == 1)
        // All have heard it lately.
        machine.receive(Machine.hostProbe([10, 0, 0, 9]))
        #expect(machine.sent.map { $0.packet.destination } == [nil, Machine.neighbour])
        // To all again after 250 ms, not after a second.
        machine.run(for: 100)
        machine.receive(Machine.hostProbe([10, 0, 0, 9], unicast: false))
        machine.run(for: 500)
        #expect(machine.sent.map { $0.packet.destination } == [nil, Machine.neighbour, nil])
        #expect(machine.sent[2].time - answer.time == 250)
    }

    @Test("An established name that another has, too, is probed again, and given up when it is defended")
    func laterConflict() throws {
        var machine = Machine.established()
        let foreign = Machine.response(Machine.service(host: DNSName(unchecked: "other.local")))
        machine.receive(foreign)
        machine.run(for: 300)
        #expect(machine.sent.map { $0.message.isResponse }.contains(false))
        #expect(machine.responder.names.instance == "Kitchen")
        machine.receive(foreign)
        machine.run(for: 5000)
        #expect(machine.responder.names.instance == "Kitchen (2)" && machine.responder.isEstablished)
        // The name belongs to another machine now.
        #expect(!machine.sent.flatMap(\.message.answers).contains { $0.ttl == 0 })
    }

    @Test("An established name that nobody defends is kept")
    func keptName() {
        var machine = Machine.established()
        machine.receive(Machine.response(Machine.service(host: DNSName(unchecked: "other.local"))))
        machine.run(for: 5000)
        #expect(machine.responder.names.instance == "Kitchen" && machine.responder.isEstablished)
        #expect(machine.sent.probes.count == 3 && machine.sent.responses.count == 2)
    }

    @Test("A conflict of one service renames all, and ends the others under the old name")
    func withdrawal() throws {
        var machine = Machine.established([
            AnnouncedService(type: "_mpd._tcp", port: 6600), AnnouncedService(type: "_http._tcp", port: 80),
        ])
        let foreign = Machine.response(Machine.service(host: DNSName(unchecked: "other.local")))
        machine.receive(foreign)
        machine.run(for: 300)
        machine.receive(foreign)
        let goodbye = try #require(machine.sent.last { $0.isGoodbye }).message.answers
        let web = DNSName(unchecked: "_http._tcp.local")
        let old = DNSName(unchecked: "Kitchen._http._tcp.local")
        #expect(goodbye.map { $0.data.type } == [12, 33, 16])
        #expect(goodbye[0].name == web && goodbye[0].data == .pointer(old) && goodbye[1].name == old)
    }
}
