import TestSupport
import Testing

@testable import Discovery

@Suite("Answers (RFC 6762, 5 to 7)")
struct AnsweringTests {
    private static let services = DNSName(unchecked: "_services._dns-sd._udp.local")
    private static let resolver = Endpoint(address: IPAddress(bytes: [10, 0, 0, 3]), port: 40_000)
    private static let stranger = Endpoint(address: IPAddress(bytes: [8, 8, 8, 8]), port: 5353)

    private func query(_ name: DNSName, _ type: UInt16, unicast: Bool = false) -> DNSQuestion {
        Machine.query(name, type, unicast: unicast)
    }

    /// A machine that has not sent anything for so long that QU questions are answered to all.
    private func rested() -> Machine {
        var machine = Machine.established()
        machine.run(for: 3_600_000)
        return machine
    }

    @Test("A shared record comes after 20 to 120 ms, with what is asked next")
    func shared() throws {
        var machine = rested()
        let start = machine.now
        let sent = machine.answers(to: [query(Machine.type, DNSType.pointer)])
        let answer = try #require(sent.first)
        #expect(sent.count == 1 && (20...121).contains(answer.time - start) && answer.packet.destination == nil)
        #expect(answer.message.answers == [Machine.pointer()])
        #expect(answer.message.additionals.map { $0.data.type } == [33, 16, 1, 28])
    }

    @Test(
        "A record of one owner comes at once",
        arguments: [
            ("Kitchen._mpd._tcp.local", DNSType.service, [33], [1, 28]),
            ("Kitchen._mpd._tcp.local", DNSType.text, [16], []),
            ("KITCHEN.local", DNSType.address4, [1], []), ("kitchen.local", DNSType.any, [1, 28], []),
        ] as [(String, UInt16, [UInt16], [UInt16])])
    func unique(name: String, type: UInt16, answers: [UInt16], additionals: [UInt16]) throws {
        var machine = rested()
        let start = machine.now
        let sent = machine.answers(to: [query(DNSName(unchecked: name), type)])
        let answer = try #require(sent.first)
        #expect(sent.count == 1 && answer.time == start)
        #expect(answer.message.answers.map { $0.data.type } == answers)
        #expect(answer.message.additionals.map { $0.data.type } == additionals)
        #expect(answer.message.answers.allSatisfy { $0.isUnique })
    }

    @Test("The types of services are listed")
    func types() throws {
        var machine = Machine.established([
            AnnouncedService(type: "_mpd._tcp", port: 6600),
            AnnouncedService(type: "_http._tcp", port: 80, texts: ["path=/"]),
        ])
        machine.run(for: 3_600_000)
        let sent = machine.answers(to: [query(Self.services, DNSType.pointer)])
        let data = sent.flatMap(\.message.answers).map(\.data)
        #expect(data == [.pointer(Machine.type), .pointer(DNSName(unchecked: "_http._tcp.local"))])
        let text = machine.answers(to: [query(DNSName(unchecked: "Kitchen._http._tcp.local"), DNSType.text)])
        #expect(text.first?.message.answers.map(\.data) == [.text(Array("\u{6}path=/".utf8))])
    }

    @Test(
        "A type that a name does not have is denied",
        arguments: [
            ("kitchen.local", 13, [1, 28]), ("Kitchen._mpd._tcp.local", DNSType.address4, [16, 33]),
            ("kitchen.local", DNSType.absence, [1, 28]),
        ] as [(String, UInt16, [UInt16])])
    func denial(name: String, type: UInt16, types: [UInt16]) throws {
        var machine = rested()
        let sent = machine.answers(to: [query(DNSName(unchecked: name), type)])
        #expect(sent.flatMap(\.message.answers).map(\.data) == [.absence(types)])
    }

    @Test("The lack of an address of one version is said with the other one")
    func missingVersion() {
        var machine = Machine.established(links: [DiscoveryLink(index: 1, addresses: [Machine.link.addresses[0]])])
        machine.run(for: 3_600_000)
        let sent = machine.answers(to: [query(Machine.host, DNSType.address4)])
        #expect(sent.first?.message.additionals.map(\.data) == [.absence([1])])
        let denied = machine.answers(to: [query(Machine.host, DNSType.address6)])
        #expect(denied.flatMap(\.message.answers).map(\.data) == [.absence([1])])
    }

    @Test(
        "Nothing is said about other names", arguments: ["other.local", "_mpd._udp.local", "local", "a.kitchen.local"])
    func others(name: String) {
        var machine = rested()
        #expect(machine.answers(to: [query(DNSName(unchecked: name), DNSType.any)]).isEmpty)
        #expect(machine.responder.nextWakeUp == nil)
    }

    // MARK: What is known already

    @Test(
        "A known answer is not repeated, unless less than half of its time is left",
        arguments: [(2250, 0), (2249, 1)] as [(UInt32, Int)])
    func known(ttl: UInt32, count: Int) {
        var machine = rested()
        let question = query(Machine.type, DNSType.pointer)
        #expect(machine.answers(to: [question], knowing: [Machine.pointer(ttl: ttl)]).count == count)
    }

    @Test("After a query with more known answers to come it waits for 400 to 500 ms")
    func truncated() throws {
        var machine = rested()
        var query = DNSMessage()
        query.isTruncated = true
        query.questions = [self.query(Machine.type, DNSType.pointer)]
        let start = machine.now
        machine.receive(query)
        machine.run(for: 1000)
        #expect((400...501).contains(try #require(machine.sent.first).time - start))
        #expect(machine.sent.count(of: Machine.type, DNSType.pointer) == 1)

        // The next packets bring the known answer, the first of them announces another one.
        machine.run(for: 10_000)
        machine.forget()
        machine.receive(query)
        machine.run(for: 300)
        var more = DNSMessage()
        more.isTruncated = true
        more.answers = [DNSRecord(name: Machine.type, data: .pointer(Machine.host), ttl: 4500)]
        machine.receive(more)
        machine.run(for: 350)
        #expect(machine.sent.isEmpty)
        more.isTruncated = false
        more.answers = [Machine.pointer()]
        machine.receive(more)
        machine.run(for: 1000)
        #expect(machine.sent.isEmpty)
    }

    @Test("Known answers of another machine count for that one alone")
    func truncatedOfAnother() {
        var machine = rested()
        var query = DNSMessage()
        query.isTruncated = true
        query.questions = [self.query(Machine.type, DNSType.pointer)]
        machine.receive(query)
        var known = DNSMessage()
        known.answers = [Machine.pointer()]
        machine.receive(known, from: Endpoint(address: IPAddress(bytes: [10, 0, 0, 77]), port: 5353))
        machine.run(for: 1000)
        #expect(machine.sent.count(of: Machine.type, DNSType.pointer) == 1)
    }

    @Test(
        "An answer that another machine gives first is not repeated",
        arguments: [(4500, 0), (4499, 1)] as [(UInt32, Int)])
    func duplicate(ttl: UInt32, count: Int) {
        var machine = rested()
        var query = DNSMessage()
        query.questions = [self.query(Self.services, DNSType.pointer)]
        machine.receive(query)
        machine.receive(Machine.response(DNSRecord(name: Self.services, data: .pointer(Machine.type), ttl: ttl)))
        machine.run(for: 1000)
        #expect(machine.sent.count(of: Self.services, DNSType.pointer) == count)
    }

    @Test("A shared record that another machine ends is said again")
    func rescue() {
        var machine = rested()
        machine.receive(Machine.response(DNSRecord(name: Self.services, data: .pointer(Machine.type), ttl: 0)))
        machine.run(for: 1000)
        #expect(machine.sent.count(of: Self.services, DNSType.pointer) == 1)
    }

    // MARK: The rate

    @Test("A record is sent to all once a second, whoever asks, and the last question gets an answer")
    func rate() {
        var machine = rested()
        for source in 10..<60 as Range<UInt8> {
            var query = DNSMessage()
            query.questions = [self.query(Machine.host, DNSType.address4)]
            machine.receive(query, from: Endpoint(address: IPAddress(bytes: [10, 0, 0, source]), port: 5353))
            machine.run(for: 100)
        }
        machine.run(for: 2000)
        let times = machine.sent.times
        #expect(times.count == 6)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= 1000 })
    }

    @Test("The same question over IPv4 and IPv6 gets one answer")
    func twice() {
        var machine = rested()
        let sixth = Endpoint(
            address: IPAddress(bytes: [0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [2]), port: 5353)
        var query = DNSMessage()
        query.questions = [self.query(Machine.host, DNSType.address4)]
        machine.receive(query)
        machine.receive(query, from: sixth)
        machine.run(for: 5000)
        #expect(machine.sent.count == 1)
    }

    @Test("Many questions in one packet get each record once")
    func manyQuestions() {
        var machine = rested()
        let questions = [DNSQuestion](repeating: query(Machine.type, DNSType.any), count: 500)
        let sent = machine.answers(to: questions)
        #expect(sent.count(of: Machine.type, DNSType.pointer) == 1 && sent.count == 1)
    }

    // MARK: By unicast

    @Test("A question that asks for it is answered by unicast, when all have heard the record lately")
    func unicast() throws {
        var machine = Machine.established()
        let question = query(Machine.instance, DNSType.service, unicast: true)
        let sent = machine.answers(to: [question])
        #expect(sent.map { $0.packet.destination } == [Machine.neighbour])
        #expect(sent.first?.message.answers.map(\.isUnique) == [true])
        // 30 s are a quarter of its time.
        machine.run(for: 30_000)
        #expect(machine.answers(to: [question]).map { $0.packet.destination } == [nil])
    }

    @Test("A query to this machine alone is answered by unicast")
    func directed() {
        var machine = Machine.established()
        let sent = machine.answers(to: [query(Machine.instance, DNSType.service)], isMulticast: false)
        #expect(sent.map { $0.packet.destination } == [Machine.neighbour])
    }

    @Test("A resolver that does not know multicast DNS gets its question and number back, for 10 s at most")
    func legacy() throws {
        var machine = rested()
        var query = DNSMessage()
        query.id = 4711
        query.questions = [self.query(Machine.instance, DNSType.service)]
        let bytes = query.legacyPacket(limit: 512)
        machine.receive(bytes, from: Self.resolver)
        machine.run(for: 500)
        let answer = try #require(machine.sent.first)
        #expect(machine.sent.count == 1 && answer.packet.destination == Self.resolver)
        #expect(answer.message.id == 4711 && answer.message.questions == query.questions)
        let records = answer.message.answers + answer.message.additionals
        #expect(records.map { $0.data.type } == [33, 1, 28])
        #expect(records.allSatisfy { $0.ttl == 10 && !$0.isUnique })
    }

    @Test("Machines that are not on the link get nothing by unicast")
    func strangers() {
        var machine = Machine.established()
        let question = query(Machine.instance, DNSType.service, unicast: true)
        let far = Endpoint(address: Self.stranger.address, port: 40_000)
        #expect(machine.answers(to: [question], from: Self.stranger, isMulticast: false).isEmpty)
        #expect(machine.answers(to: [question], from: far).isEmpty)
        #expect(machine.answers(to: [question], from: far, isMulticast: false).isEmpty)
        // To the group only the link can send, also from a network of its own.
        #expect(machine.answers(to: [question], from: Self.stranger).map { $0.packet.destination } == [nil])
        // A response by unicast from there is none.
        machine.receive(
            Machine.response(Machine.service(80)), from: Self.stranger, isMulticast: false)
        machine.run(for: 300)
        #expect(machine.responder.isEstablished)
    }

    @Test("A flood of queries does not grow the memory, and is answered later")
    func flood() {
        var machine = rested()
        for number in 0..<10_000 {
            var query = DNSMessage()
            query.isTruncated = true
            query.questions = [self.query(Machine.type, DNSType.pointer, unicast: true)]
            let source = IPAddress(bytes: [10, 0, UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF)])
            machine.receive(query, from: Endpoint(address: source, port: 5353))
        }
        machine.run(for: 5000)
        #expect(machine.sent.count <= 64)
        machine.run(for: 5000)
        #expect(!machine.answers(to: [query(Machine.type, DNSType.pointer)]).isEmpty)
    }
}
