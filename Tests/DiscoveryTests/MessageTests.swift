import TestSupport
import Testing

@testable import Discovery

@Suite("Messages of DNS (RFC 1035, RFC 6762)")
struct MessageTests {
    private func name(_ text: String) throws -> DNSName { try #require(DNSName(text)) }

    /// The header of a message with so many questions and records in each section.
    private func header(_ flags: UInt16 = 0, questions: UInt8 = 0, answers: UInt8 = 0) -> [UInt8] {
        [0, 0, UInt8(flags >> 8), UInt8(flags & 0xFF), 0, questions, 0, answers, 0, 0, 0, 0]
    }

    @Test("A message reads as it was written, with every kind of record")
    func roundTrip() throws {
        let (type, host) = (try name("_mpd._tcp.local"), try name("kitchen.local"))
        let instance = try #require(type.prefixed(by: Array("Küche 1.5".utf8)))
        var message = DNSMessage(isResponse: true)
        message.questions = [DNSQuestion(name: type, type: DNSType.pointer, wantsUnicast: true)]
        message.answers = [
            DNSRecord(name: type, data: .pointer(instance), ttl: 4500),
            DNSRecord(
                name: instance, data: .service(priority: 1, weight: 2, port: 6600, host: host), ttl: 120, isUnique: true
            ),
        ]
        message.authorities = [DNSRecord(name: instance, data: .text(Array("\u{6}path=/".utf8)), ttl: 4500)]
        message.additionals = [
            DNSRecord(name: host, data: .address4([10, 0, 0, 1]), ttl: 120),
            DNSRecord(name: host, data: .address6(Array(1...16)), ttl: .max >> 1),
            DNSRecord(name: host, data: .absence([DNSType.address4, DNSType.address6]), ttl: 120, isUnique: true),
        ]
        let packets = message.packets(limit: 1452)
        #expect(packets.all.count == 1 && packets.additionalCount == 3)
        #expect(DNSMessage(parsing: packets.all[0]) == message)
    }

    @Test("A name that was written before is a pointer, also in the data")
    func compression() throws {
        let type = try name("_mpd._tcp.local")
        var message = DNSMessage()
        let instance = try #require(type.prefixed(by: Array("A".utf8)))
        message.questions = [DNSQuestion(name: type, type: DNSType.pointer)]
        message.answers = [DNSRecord(name: type, data: .pointer(instance), ttl: 4500)]
        let bytes = message.packets(limit: 1452).all[0]
        // Header, the name with type and class, a pointer with 10 bytes, and a label with a pointer.
        #expect(bytes.count == 12 + 17 + 4 + 2 + 10 + 4)
        #expect(Array(bytes.suffix(4)) == [1, UInt8(ascii: "A"), 0xC0, 12])
    }

    @Test("The host of a SRV record is not compressed for resolvers that do not know multicast DNS")
    func legacyHost() throws {
        let host = try name("kitchen.local")
        var message = DNSMessage(isResponse: true)
        message.id = 7
        message.questions = [DNSQuestion(name: host, type: DNSType.service)]
        message.answers = [
            DNSRecord(name: host, data: .service(priority: 0, weight: 0, port: 80, host: host), ttl: 10)
        ]
        let bytes = message.legacyPacket(limit: 512)
        #expect(Array(bytes.suffix(15)) == host.labels + [0])
        #expect(DNSMessage(parsing: bytes) == message)
    }

    @Test("Answers that do not fit into one packet are in a second one; additional records are left out")
    func split() throws {
        let type = try name("_mpd._tcp.local")
        var message = DNSMessage(isResponse: true)
        for number in 0..<40 {
            let instance = try #require(type.prefixed(by: Array("Instance number \(number) of many".utf8)))
            message.answers.append(DNSRecord(name: type, data: .pointer(instance), ttl: 4500))
        }
        message.additionals = [DNSRecord(name: type, data: .text([UInt8](repeating: 0, count: 1400)), ttl: 1)]
        let packets = message.packets(limit: 1452)
        let messages = packets.all.compactMap { DNSMessage(parsing: $0) }
        #expect(packets.all.count == 2 && packets.all.allSatisfy { $0.count <= 1452 })
        #expect(messages.flatMap(\.answers) == message.answers)
        #expect(packets.additionalCount == 0 && messages.allSatisfy { $0.additionals.isEmpty })
    }

    @Test("An answer to a usual resolver that is too long has the truncation bit")
    func legacyTruncation() throws {
        var message = DNSMessage(isResponse: true)
        let record = DNSRecord(name: try name("a.local"), data: .text([UInt8](repeating: 0, count: 300)), ttl: 10)
        message.answers = [record, record]
        let bytes = message.legacyPacket(limit: 512)
        let read = try #require(DNSMessage(parsing: bytes))
        #expect(bytes.count <= 512 && read.isTruncated && read.answers == [record])
    }

    @Test(
        "Names are equal without regard to the case of ASCII letters alone",
        arguments: [("Kitchen.local", "kITCHEN.LOCAL", true), ("é.local", "É.local", false), ("a.b", "ab", false)])
    func names(left: String, right: String, areEqual: Bool) throws {
        #expect((try name(left) == name(right)) == areEqual)
    }

    @Test("Labels have 1 to 63 bytes, names at most 255")
    func limits() {
        let long = String(repeating: "a", count: 63)
        #expect(DNSName(long) != nil && DNSName(long + "a") == nil && DNSName("a..b") == nil)
        #expect(DNSName("\(long).\(long).\(long).\(String(long.prefix(61)))") != nil)
        #expect(DNSName("\(long).\(long).\(long).\(String(long.prefix(62)))") == nil)
    }

    @Test(
        "Pointers lead back only",
        arguments: [
            // To itself, to a later place, in a loop of two, and past the end.
            [0xC0, 12], [0xC0, 14, 0], [1, 97, 0xC0, 12], [0xC0, 200], [0xC0],
        ] as [[UInt8]])
    func pointers(name: [UInt8]) {
        #expect(DNSMessage(parsing: header(questions: 1) + name + [0, 12, 0, 1]) == nil)
    }

    @Test("A pointer to a loop before it is refused")
    func innerLoop() {
        // The label of the first name looks like a pointer to itself.
        let first: [UInt8] = [2, 0xC0, 13, 0, 0, 12, 0, 1]
        #expect(DNSMessage(parsing: header(questions: 2) + first + [0xC0, 13, 0, 12, 0, 1]) == nil)
    }

    @Test("A name of many pointers is not longer than 255 bytes")
    func pointerChain() {
        // Each name is a label and a pointer to the one before it.
        var bytes = header(questions: 60)
        var last = 0
        for number in 0..<60 {
            let place = bytes.count
            bytes += [4, 97, 97, 97, 97] + (number == 0 ? [0] : [0xC0 | UInt8(last >> 8), UInt8(last & 0xFF)])
            bytes += [0, 12, 0, 1]
            last = place
        }
        #expect(DNSMessage(parsing: bytes) == nil)
        bytes[5] = 50
        #expect(DNSMessage(parsing: bytes)?.questions.last?.name.labels.count == 250)
    }

    @Test(
        "Malformed records are refused",
        arguments: [
            // A of 3 bytes, AAAA of 4, a PTR that is too long, a SRV without a host, more bytes than there are.
            [0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 3, 1, 2, 3], [0, 0, 28, 0, 1, 0, 0, 0, 1, 0, 4, 1, 2, 3, 4],
            [0, 0, 12, 0, 1, 0, 0, 0, 1, 0, 1, 1, 97, 0], [0, 0, 33, 0, 1, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 80],
            [0, 0, 16, 0, 1, 0, 0, 0, 1, 0, 9, 1], [0, 0, 16, 0, 1, 0, 0, 0], [0],
        ] as [[UInt8]])
    func malformed(record: [UInt8]) {
        #expect(DNSMessage(parsing: header(0x8400, answers: 1) + record) == nil)
    }

    @Test("Records of unknown types are kept as bytes, those of other classes are left out")
    func unknown() throws {
        let unknown: [UInt8] = [1, 97, 0, 0, 13, 0, 1, 0, 0, 0, 1, 0, 2, 7, 8]
        let chaos: [UInt8] = [1, 97, 0, 0, 1, 0, 3, 0, 0, 0, 1, 0, 4, 1, 2, 3, 4]
        let message = try #require(DNSMessage(parsing: header(0x8400, answers: 2) + unknown + chaos))
        #expect(message.answers == [DNSRecord(name: try name("a"), data: DNSData(type: 13, bytes: [7, 8]), ttl: 1)])
    }

    @Test("Other operations and failures are not read", arguments: [0x0800, 0x8403, 0x2800] as [UInt16])
    func otherOperations(flags: UInt16) {
        #expect(DNSMessage(parsing: header(flags)) == nil)
        #expect(DNSMessage(parsing: header(flags & 0x8000)) != nil)
    }

    @Test("Any bytes are read without a trap")
    func anyBytes() {
        var random = SeededRandom(1)
        for _ in 0..<20_000 {
            var bytes = (0..<Int.random(in: 0...80, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            // Small counts and lengths lead further in.
            for index in bytes.indices where index < 12 || index % 3 != 0 { bytes[index] &= 0x03 }
            _ = DNSMessage(parsing: bytes)
        }
    }
}

@Suite("The names of an appliance")
struct ServiceNamesTests {
    @Test(
        "The host is the first label of the machine's name, in letters, digits and hyphens",
        arguments: [
            ("Kitchen", "kitchen"), ("pi.example.org", "pi"), ("my_box", "my-box"), ("_", "tonearm"), ("", "tonearm"),
            ("-a-", "a"),
        ])
    func host(machine: String, host: String) {
        #expect(ServiceNames(instance: "", host: machine).host == host)
        #expect(ServiceNames(instance: "", host: machine).instance == host)
    }

    @Test("A conflict gives a number, and long names are cut between characters")
    func renaming() {
        var names = ServiceNames(instance: "Kitchen", host: "kitchen")
        names.renameInstance()
        names.renameHost()
        #expect(names.instance == "Kitchen (2)" && names.host == "kitchen-2")
        names.renameInstance()
        #expect(names.instance == "Kitchen (3)" && names.host == "kitchen-2")

        var long = ServiceNames(
            instance: String(repeating: "ü", count: 40), host: String(repeating: "h", count: 80))
        #expect(long.instance == String(repeating: "ü", count: 31))
        #expect(long.host.utf8.count == 63)
        long.renameInstance()
        long.renameHost()
        #expect(long.instance == String(repeating: "ü", count: 29) + " (2)" && long.host.utf8.count == 63)
    }
}
