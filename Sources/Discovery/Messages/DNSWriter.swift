/// Writes one packet.
struct DNSWriter {
    /// The sections of records, by their places in the header.
    enum Section: Int {
        case answers = 6
        case authorities = 8
        case additionals = 10
    }

    private static let headerLength = 12
    private static let questionCount = 4
    /// The furthest place that a pointer can name.
    private static let pointerLimit = 0x4000

    /// Whether the host of a SRV record may be compressed.
    var compressesHosts = true
    private let limit: Int
    private var bytes: [UInt8]
    /// The ends of the names that were written, and their places.
    private var suffixes: [(labels: ArraySlice<UInt8>, place: Int)] = []

    init(limit: Int, flags: UInt16, id: UInt16 = 0) {
        self.limit = limit
        bytes = []
        bytes.reserveCapacity(limit)
        append(id)
        append(flags)
        bytes += [UInt8](repeating: 0, count: Self.headerLength - 4)
    }

    var isEmpty: Bool { bytes.count == Self.headerLength }

    func packet() -> [UInt8] { bytes }

    mutating func setFlags(_ flags: UInt16) {
        bytes[2] = UInt8(flags >> 8)
        bytes[3] = UInt8(truncatingIfNeeded: flags)
    }

    /// - Returns: false when it does not fit; the packet is unchanged then.
    mutating func append(_ question: DNSQuestion) -> Bool { fits { writer in writer.force(question) } }

    /// Records are appended in the order of the sections.
    /// - Returns: false when it does not fit; the packet is unchanged then.
    mutating func append(_ record: DNSRecord, to section: Section) -> Bool {
        fits { writer in writer.force(record, to: section) }
    }

    private mutating func fits(_ write: (inout DNSWriter) -> Void) -> Bool {
        let before = (bytes.count, suffixes.count, Array(bytes.prefix(Self.headerLength)))
        write(&self)
        guard bytes.count > limit else { return true }
        bytes.removeSubrange(before.0...)
        suffixes.removeSubrange(before.1...)
        bytes.replaceSubrange(..<Self.headerLength, with: before.2)
        return false
    }

    /// Appends a question, which may exceed the limit.
    mutating func force(_ question: DNSQuestion) {
        append(question.name)
        append(question.type)
        append(DNSClass.internet | (question.wantsUnicast ? DNSClass.flag : 0))
        count(Self.questionCount)
    }

    /// Appends a record, which may exceed the limit.
    mutating func force(_ record: DNSRecord, to section: Section) {
        append(record.name)
        append(record.data.type)
        append(DNSClass.internet | (record.isUnique ? DNSClass.flag : 0))
        append(UInt16(truncatingIfNeeded: record.ttl >> 16))
        append(UInt16(truncatingIfNeeded: record.ttl))
        let place = bytes.count
        append(UInt16(0))
        append(record.data, of: record.name)
        let length = UInt16(truncatingIfNeeded: bytes.count - place - 2)
        bytes[place] = UInt8(length >> 8)
        bytes[place + 1] = UInt8(truncatingIfNeeded: length)
        count(section.rawValue)
    }

    private mutating func append(_ data: DNSData, of name: DNSName) {
        switch data {
        case .address4(let data), .address6(let data), .text(let data), .other(_, let data): bytes += data
        case .pointer(let name): append(name)
        case .service(let priority, let weight, let port, let host):
            append(priority)
            append(weight)
            append(port)
            append(host, compressed: compressesHosts)
        case .absence(let types):
            append(name)
            appendMap(of: types)
        }
    }

    /// A bit map in one window: types from 256 on do not occur.
    private mutating func appendMap(of types: [UInt16]) {
        var map = [UInt8](repeating: 0, count: Int((types.last ?? 0) / 8) + 1)
        for type in types where Int(type / 8) < map.count { map[Int(type / 8)] |= 0x80 >> UInt8(type % 8) }
        bytes += [0, UInt8(truncatingIfNeeded: map.count)] + map
    }

    private mutating func count(_ place: Int) {
        let number = (UInt16(bytes[place]) << 8 | UInt16(bytes[place + 1])) &+ 1
        bytes[place] = UInt8(number >> 8)
        bytes[place + 1] = UInt8(truncatingIfNeeded: number)
    }

    private mutating func append(_ number: UInt16) {
        bytes.append(UInt8(number >> 8))
        bytes.append(UInt8(truncatingIfNeeded: number))
    }

    /// Appends a name. The rest of a name that was written before becomes a pointer (RFC 1035, 4.1.4).
    private mutating func append(_ name: DNSName, compressed: Bool = true) {
        var rest = name.labels[...]
        while let length = rest.first {
            if compressed, let known = suffixes.first(where: { $0.labels.elementsEqual(rest) }) {
                return append(UInt16(truncatingIfNeeded: 0xC000 | known.place))
            }
            if bytes.count < Self.pointerLimit { suffixes.append((rest, bytes.count)) }
            bytes += rest.prefix(1 + Int(length))
            rest = rest.dropFirst(1 + Int(length))
        }
        bytes.append(0)
    }
}
