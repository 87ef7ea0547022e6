/// A message of DNS (RFC 1035, 4.1), as multicast DNS uses it (RFC 6762, 18).
///
/// Reading accepts any bytes. Records of other classes than Internet are left out.
struct DNSMessage: Equatable, Sendable {
    var id: UInt16 = 0
    var isResponse = false
    /// Whether, in a query, more known answers follow in another packet.
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
        /// The number of additional records that fitted into the last packet. The others are left out.
        var additionalCount = 0
    }

    /// - Parameters:
    ///   - limit: the maximum number of bytes of a packet, except for a packet with one record that is longer.
    ///   - compressesHosts: whether the hosts of SRV records are compressed.
    func packets(limit: Int, compressesHosts: Bool = true) -> Packets {
        var packets = Packets()
        var writer = DNSWriter(limit: limit, flags: flags, compressesHosts: compressesHosts)
        for place in 0..<questions.count + answers.count + authorities.count {
            if write(place, to: &writer) { continue }
            if !writer.isEmpty { packets.all.append(writer.bytes) }
            writer = DNSWriter(limit: limit, flags: flags, compressesHosts: compressesHosts)
            writer.isForced = true
            _ = write(place, to: &writer)
            writer.isForced = false
        }
        for record in additionals {
            guard writer.append(record, to: .additionals) else { break }
            packets.additionalCount += 1
        }
        if !writer.isEmpty { packets.all.append(writer.bytes) }
        return packets
    }

    /// Writes one of the questions, answers and authorities, in this order.
    private func write(_ place: Int, to writer: inout DNSWriter) -> Bool {
        if place < questions.count { return writer.append(questions[place]) }
        let index = place - questions.count
        return index < answers.count
            ? writer.append(answers[index], to: .answers)
            : writer.append(authorities[index - answers.count], to: .authorities)
    }

    /// The one packet of an answer to a resolver that does not know multicast DNS (RFC 6762, 6.7). Names in SRV records
    /// are not compressed (RFC 6762, 18.14). Answers that do not fit are announced by the truncation bit.
    /// - Parameter limit: the maximum number of bytes of the packet, except for one with a single record.
    func legacyPacket(limit: Int) -> [UInt8] {
        let packets = packets(limit: limit, compressesHosts: false)
        guard var packet = packets.all.first else { return [] }
        packet[0] = UInt8(id >> 8)
        packet[1] = UInt8(truncatingIfNeeded: id)
        if packets.all.count > 1 { packet[2] |= UInt8(Self.truncated >> 8) }
        return packet
    }
}
