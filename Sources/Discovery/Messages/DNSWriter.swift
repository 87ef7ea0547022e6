/// Writes one packet.
struct DNSWriter {
    /// The sections of records, by the indexes of their counts in the header.
    enum Section: Int {
        case answers = 6
        case authorities = 8
        case additionals = 10
    }

    private static let headerLength = 12
    private static let questionCount = 4
    /// The limit of offsets that a pointer can contain.
    private static let pointerLimit = 0x4000

    /// Whether a packet may be longer than the limit.
    var isForced = false
    private let limit: Int
    private let compressesHosts: Bool
    private(set) var bytes: [UInt8]
    /// The ends of the names that were written, and their offsets.
    private var suffixes: [(labels: ArraySlice<UInt8>, offset: Int)] = []

    /// - Parameter compressesHosts: whether the host of a SRV record may be compressed.
    init(limit: Int, flags: UInt16, compressesHosts: Bool) {
        self.limit = limit
        self.compressesHosts = compressesHosts
        bytes = [UInt8](repeating: 0, count: Self.headerLength)
        set(flags, at: 2)
    }

    var isEmpty: Bool { bytes.count == Self.headerLength }

    /// - Returns: false when it does not fit; the packet is unchanged then.
    mutating func append(_ question: DNSQuestion) -> Bool {
        let before = bytes.count
        append(question.name.labels[...])
        append(question.type)
        append(DNSClass.internet | (question.wantsUnicast ? DNSClass.flag : 0))
        return finish(before, Self.questionCount)
    }

    /// Records are appended in the order of the sections.
    /// - Returns: false when it does not fit; the packet is unchanged then.
    mutating func append(_ record: DNSRecord, to section: Section) -> Bool {
        let before = bytes.count
        append(record.name.labels[...])
        append(record.data.type)
        append(DNSClass.internet | (record.isUnique ? DNSClass.flag : 0))
        append(UInt16(truncatingIfNeeded: record.ttl >> 16))
        append(UInt16(truncatingIfNeeded: record.ttl))
        let offset = bytes.count
        append(UInt16(0))
        append(record.data, of: record.name)
        set(UInt16(truncatingIfNeeded: bytes.count - offset - 2), at: offset)
        return finish(before, section.rawValue)
    }

    /// Counts the appended record, or removes it when the packet is too long.
    /// - Parameters:
    ///   - before: the length before it.
    ///   - count: the offset of the count in the header.
    private mutating func finish(_ before: Int, _ count: Int) -> Bool {
        if bytes.count > limit, !isForced {
            bytes.removeLast(bytes.count - before)
            while let last = suffixes.last, last.offset >= before { suffixes.removeLast() }
            return false
        }
        set((UInt16(bytes[count]) << 8 | UInt16(bytes[count + 1])) &+ 1, at: count)
        return true
    }

    private mutating func append(_ data: DNSData, of owner: DNSName) {
        let offset = data.namePlace
        let isCompressed = compressesHosts || data.type != DNSType.service
        if data.type == DNSType.absence { append(owner.labels[...]) }
        bytes += data.bytes[..<offset]
        if data.type == DNSType.pointer || data.type == DNSType.service {
            append(data.bytes[offset...], compressed: isCompressed)
        }
    }

    private mutating func set(_ number: UInt16, at offset: Int) {
        bytes[offset] = UInt8(number >> 8)
        bytes[offset + 1] = UInt8(truncatingIfNeeded: number)
    }

    private mutating func append(_ number: UInt16) {
        bytes.append(UInt8(number >> 8))
        bytes.append(UInt8(truncatingIfNeeded: number))
    }

    /// Appends a name. The rest of a name that was written before becomes a pointer (RFC 1035, 4.1.4).
    private mutating func append(_ labels: ArraySlice<UInt8>, compressed: Bool = true) {
        var rest = labels
        while let length = rest.first {
            if compressed, let known = suffixes.first(where: { $0.labels.elementsEqual(rest) }) {
                return append(UInt16(truncatingIfNeeded: 0xC000 | known.offset))
            }
            if bytes.count < Self.pointerLimit { suffixes.append((rest, bytes.count)) }
            bytes += rest.prefix(1 + Int(length))
            rest = rest.dropFirst(1 + Int(length))
        }
        bytes.append(0)
    }
}
