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

/// The type of a record and its data, without compressed names. One array for all types keeps the program small.
struct DNSData: Equatable, Sendable {
    let type: UInt16
    /// The data as in a message; of NSEC the bit map alone, because the name before it is the record's (RFC 6762, 6.1).
    let bytes: [UInt8]

    /// PTR.
    static func pointer(_ name: DNSName) -> DNSData { DNSData(type: DNSType.pointer, bytes: name.labels) }

    /// SRV.
    static func service(priority: UInt16, weight: UInt16, port: UInt16, host: DNSName) -> DNSData {
        var bytes: [UInt8] = []
        for number in [priority, weight, port] { bytes += [UInt8(number >> 8), UInt8(truncatingIfNeeded: number)] }
        return DNSData(type: DNSType.service, bytes: bytes + host.labels)
    }

    /// TXT.
    /// - Parameter bytes: texts, each after a byte with its length.
    static func text(_ bytes: [UInt8]) -> DNSData { DNSData(type: DNSType.text, bytes: bytes) }

    /// A or AAAA.
    static func address(_ address: IPAddress) -> DNSData {
        DNSData(type: address.isVersion6 ? DNSType.address6 : DNSType.address4, bytes: address.bytes)
    }

    /// NSEC: the name has no other types than these, which are below 256.
    static func absence(_ types: [UInt16]) -> DNSData {
        var map = [UInt8](repeating: 0, count: Int((types.max() ?? 0) / 8) + 1)
        for type in types { map[Int(type / 8)] |= 0x80 >> UInt8(type % 8) }
        return DNSData(type: DNSType.absence, bytes: [0, UInt8(truncatingIfNeeded: map.count)] + map)
    }

    /// The offset of a name in the data, or the offset of the end if there is no name. The end of a name has no byte
    /// here.
    var namePlace: Int {
        switch type {
        case DNSType.pointer: 0
        case DNSType.service: min(Self.servicePlace, bytes.count)
        default: bytes.count
        }
    }

    /// The bytes before the host of a SRV record (RFC 2782).
    static let servicePlace = 6

    /// The case of letters counts except in names.
    static func == (left: DNSData, right: DNSData) -> Bool {
        guard left.type == right.type, left.bytes.count == right.bytes.count else { return false }
        let nameOffset = left.namePlace
        for index in left.bytes.indices {
            let (one, other) = (left.bytes[index], right.bytes[index])
            if one != other, index < nameOffset || DNSName.lowered(one) != DNSName.lowered(other) { return false }
        }
        return true
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

    /// Returns whether both have the same name and data. Their lifetimes may differ.
    func isSame(as other: DNSRecord) -> Bool { data == other.data && name == other.name }
}

/// A question of the class Internet or of any class.
struct DNSQuestion: Equatable, Sendable {
    var name: DNSName
    var type: UInt16
    /// Whether the answer may come by unicast (the QU bit).
    var wantsUnicast = false
}
