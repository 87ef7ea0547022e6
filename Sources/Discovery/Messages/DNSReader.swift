/// Reads the parts of a message from bytes of the network.
struct DNSReader {
    /// The message ends too early, or a name or record in it is not allowed.
    struct Malformed: Error {}

    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func number() throws(Malformed) -> UInt16 {
        guard bytes.count - position >= 2 else { throw Malformed() }
        defer { position += 2 }
        return UInt16(bytes[position]) << 8 | UInt16(bytes[position + 1])
    }

    private mutating func longNumber() throws(Malformed) -> UInt32 {
        let high = try number()
        return UInt32(high) << 16 | UInt32(try number())
    }

    private mutating func take(_ count: Int) throws(Malformed) -> [UInt8] {
        guard bytes.count - position >= count else { throw Malformed() }
        defer { position += count }
        return Array(bytes[position..<position + count])
    }

    /// Reads a name. A pointer may only lead to an earlier offset, so that there are no loops.
    mutating func name() throws(Malformed) -> DNSName {
        var labels: [UInt8] = []
        var offset = position
        var start = position
        var end: Int?
        while offset < bytes.count {
            let length = Int(bytes[offset])
            switch length & 0xC0 {
            case 0:
                let next = offset + 1 + length
                if length == 0 {
                    position = end ?? next
                    guard let name = DNSName(labels: labels) else { throw Malformed() }
                    return name
                }
                guard next <= bytes.count, labels.count + 1 + length <= DNSName.limit else { throw Malformed() }
                labels += bytes[offset..<next]
                offset = next
            case 0xC0:
                guard offset + 1 < bytes.count else { throw Malformed() }
                let target = (length & 0x3F) << 8 | Int(bytes[offset + 1])
                guard target < start else { throw Malformed() }
                if end == nil { end = offset + 2 }
                start = target
                offset = target
            default:
                throw Malformed()
            }
        }
        throw Malformed()
    }

    /// Reads a question.
    /// - Returns: nil for a class that is neither Internet nor any.
    mutating func question() throws(Malformed) -> DNSQuestion? {
        let name = try name()
        let type = try number()
        let field = try number()
        let number = field & ~DNSClass.flag
        guard number == DNSClass.internet || number == DNSClass.any else { return nil }
        return DNSQuestion(name: name, type: type, wantsUnicast: field & DNSClass.flag != 0)
    }

    /// Reads a section of records.
    mutating func records(_ count: UInt16) throws(Malformed) -> [DNSRecord] {
        var records: [DNSRecord] = []
        for _ in 0..<count {
            if let record = try record() { records.append(record) }
        }
        return records
    }

    /// - Returns: nil for another class than Internet.
    private mutating func record() throws(Malformed) -> DNSRecord? {
        let name = try name()
        let type = try number()
        let field = try number()
        let ttl = try longNumber()
        let length = Int(try number())
        guard bytes.count - position >= length else { throw Malformed() }
        let end = position + length
        let data = try data(of: type, length: length)
        // A name may be longer than the stated length of the record.
        guard position <= end else { throw Malformed() }
        position = end
        guard field & ~DNSClass.flag == DNSClass.internet else { return nil }
        // A time of more than 31 bits counts as 0 (RFC 2181, 8).
        return DNSRecord(
            name: name, data: data, ttl: ttl > UInt32.max >> 1 ? 0 : ttl, isUnique: field & DNSClass.flag != 0)
    }

    private mutating func data(of type: UInt16, length: Int) throws(Malformed) -> DNSData {
        let end = position + length
        switch type {
        case DNSType.address4: guard length == 4 else { throw Malformed() }
        case DNSType.address6: guard length == 16 else { throw Malformed() }
        case DNSType.pointer: return .pointer(try name())
        case DNSType.service:
            let numbers = try take(DNSData.servicePlace)
            return DNSData(type: type, bytes: numbers + (try name().labels))
        case DNSType.absence: _ = try name()
        default: break
        }
        guard position <= end else { throw Malformed() }
        return DNSData(type: type, bytes: try take(end - position))
    }
}
