/// The numbers of record types (RFC 1035, 3596, 2782, 4034).
enum DNSType {
    static let address4: UInt16 = 1
    static let pointer: UInt16 = 12
    static let text: UInt16 = 16
    static let address6: UInt16 = 28
    static let service: UInt16 = 33
    static let absence: UInt16 = 47
    /// A question with it asks for records of every type.
    static let any: UInt16 = 255
}

/// The numbers of classes. The highest bit has another meaning in multicast DNS.
enum DNSClass {
    static let internet: UInt16 = 1
    static let any: UInt16 = 255
    /// In a question: it asks for an answer by unicast (RFC 6762, 5.4). In a record: it replaces earlier ones of its
    /// name and type (RFC 6762, 10.2).
    static let flag: UInt16 = 0x8000
}

/// The data of a record.
enum DNSData: Equatable, Sendable {
    /// A: 4 bytes.
    case address4([UInt8])
    /// AAAA: 16 bytes.
    case address6([UInt8])
    /// PTR.
    case pointer(DNSName)
    /// SRV.
    case service(priority: UInt16, weight: UInt16, port: UInt16, host: DNSName)
    /// TXT: texts, each after a byte with its length.
    case text([UInt8])
    /// NSEC: the name has no other types than these. In ascending order, below 256 (RFC 6762, 6.1).
    case absence([UInt16])
    /// A record of a type that is not known. Its data may contain compressed names and cannot be sent.
    case other(UInt16, [UInt8])

    var type: UInt16 {
        switch self {
        case .address4: DNSType.address4
        case .address6: DNSType.address6
        case .pointer: DNSType.pointer
        case .service: DNSType.service
        case .text: DNSType.text
        case .absence: DNSType.absence
        case .other(let type, _): type
        }
    }

    /// The data without compressed names, as it is compared when two hosts probe a name at once (RFC 6762, 8.2). NSEC
    /// is not part of probes and is empty.
    var comparedBytes: [UInt8] {
        switch self {
        case .address4(let bytes), .address6(let bytes), .text(let bytes), .other(_, let bytes): bytes
        case .pointer(let name): name.labels + [0]
        case .service(let priority, let weight, let port, let host):
            [priority, weight, port].flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] } + host.labels + [0]
        case .absence: []
        }
    }
}

/// A record of the class Internet.
struct DNSRecord: Equatable, Sendable {
    var name: DNSName
    var data: DNSData
    /// Seconds.
    var ttl: UInt32
    /// Whether it replaces earlier records of its name and type (the cache-flush bit).
    var isUnique = false

    /// Whether both say the same, independent of the time that they are valid.
    func isSame(as other: DNSRecord) -> Bool { data == other.data && name == other.name }
}

/// A question of the class Internet or of any class.
struct DNSQuestion: Equatable, Sendable {
    var name: DNSName
    var type: UInt16
    /// Whether the answer may come by unicast (the QU bit).
    var wantsUnicast = false
}
