/// A message of DNS (RFC 1035, 4.1), as multicast DNS uses it (RFC 6762, 18).
///
/// Reading accepts any bytes. Records of other classes than Internet are left out.
struct DNSMessage: Equatable, Sendable {
    var id: UInt16 = 0
    var isResponse = false
    /// In a query: more known answers follow in another packet.
    var isTruncated = false
    var questions: [DNSQuestion] = []
    var answers: [DNSRecord] = []
    var authorities: [DNSRecord] = []
    var additionals: [DNSRecord] = []

    private static let response: UInt16 = 0x8000
    private static let authoritative: UInt16 = 0x0400
    private static let truncated: UInt16 = 0x0200
    /// The bits of the operation and the code of a failure, which are 0 (RFC 6762, 18.3 and 18.11).
    private static let otherThanQuery: UInt16 = 0x780F

    init(isResponse: Bool = false) { self.isResponse = isResponse }

    /// Reads a packet.
    /// - Returns: nil when it is malformed, or neither a query nor a successful response.
    init?(parsing bytes: [UInt8]) {
        do throws(DNSReader.Malformed) {
            var reader = DNSReader(bytes)
            id = try reader.number()
            let flags = try reader.number()
            guard flags & Self.otherThanQuery == 0 else { return nil }
            isResponse = flags & Self.response != 0
            isTruncated = flags & Self.truncated != 0
            let counts = [try reader.number(), try reader.number(), try reader.number(), try reader.number()]
            for _ in 0..<counts[0] {
                if let question = try reader.question() { questions.append(question) }
            }
            answers = try reader.records(counts[1])
            authorities = try reader.records(counts[2])
            additionals = try reader.records(counts[3])
        } catch {
            return nil
        }
    }

    fileprivate var flags: UInt16 {
        (isResponse ? Self.response | Self.authoritative : 0) | (isTruncated ? Self.truncated : 0)
    }

    /// The packets of a message of multicast DNS.
    struct Packets {
        /// Questions and records that do not fit into one packet are in further ones.
        var all: [[UInt8]] = []
        /// How many of the additional records fitted into the last one; the others are left out.
        var additionalCount = 0
    }

    /// - Parameter limit: the most bytes of a packet, except for a packet with one record that is longer.
    func packets(limit: Int) -> Packets {
        var packets = Packets()
        var writer = DNSWriter(limit: limit, flags: flags)
        for question in questions where !writer.append(question) {
            packets.all.append(writer.packet())
            writer = DNSWriter(limit: limit, flags: flags)
            writer.force(question)
        }
        for (section, records) in [(DNSWriter.Section.answers, answers), (.authorities, authorities)] {
            for record in records where !writer.append(record, to: section) {
                if !writer.isEmpty { packets.all.append(writer.packet()) }
                writer = DNSWriter(limit: limit, flags: flags)
                writer.force(record, to: section)
            }
        }
        for record in additionals {
            guard writer.append(record, to: .additionals) else { break }
            packets.additionalCount += 1
        }
        if !writer.isEmpty { packets.all.append(writer.packet()) }
        return packets
    }

    /// The one packet of an answer to a resolver that does not know multicast DNS (RFC 6762, 6.7). Names in SRV records
    /// are not compressed (RFC 6762, 18.14). Answers that do not fit are announced by the truncation bit.
    /// - Parameter limit: the most bytes of the packet.
    func legacyPacket(limit: Int) -> [UInt8] {
        var writer = DNSWriter(limit: limit, flags: flags, id: id)
        writer.compressesHosts = false
        for question in questions { guard writer.append(question) else { break } }
        for record in answers where !writer.append(record, to: .answers) {
            writer.setFlags(flags | Self.truncated)
            return writer.packet()
        }
        for record in additionals { guard writer.append(record, to: .additionals) else { break } }
        return writer.packet()
    }
}
