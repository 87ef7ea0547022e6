/// A record that this machine answers with on one link.
struct OwnRecord: Equatable, Sendable {
    enum Use: Equatable, Sendable {
        /// Others may have records of the same name and type.
        case shared
        /// Only this machine has records of its name.
        case unique
        /// The denial of other types of a unique name; neither probed nor announced.
        case absence
    }

    var record: DNSRecord
    var use: Use
    /// Whether it ends with this machine: other machines may have the same type of service (RFC 6763, 9).
    var hasGoodbye = true
    /// When it was last sent to all, in nanoseconds.
    var lastMulticast: Int64?

    var isShared: Bool { use == .shared }
}

/// All records of this machine on one link.
struct OwnRecords: Equatable, Sendable {
    private(set) var all: [OwnRecord] = []
    let hostName: DNSName
    private(set) var instances: [DNSName] = []

    /// Records with a host name or its data (RFC 6762, 10).
    static let hostLifetime: UInt32 = 120
    static let lifetime: UInt32 = 4500

    private static let services = DNSName(unchecked: "_services._dns-sd._udp.local")

    init(names: ServiceNames, services: [AnnouncedService], addresses: [IPAddress]) {
        hostName = names.hostName
        for address in addresses {
            let data: DNSData = address.isVersion6 ? .address6(address.bytes) : .address4(address.bytes)
            addUnique(hostName, data, Self.hostLifetime)
        }
        let hasVersion4 = addresses.contains { !$0.isVersion6 }
        let hasVersion6 = addresses.contains { $0.isVersion6 }
        addAbsence(
            hostName, others: (hasVersion4 ? [DNSType.address4] : []) + (hasVersion6 ? [DNSType.address6] : []))
        for service in services {
            guard let type = DNSName("\(service.type).local"),
                let instance = type.prefixed(by: Array(names.instance.utf8))
            else { continue }
            addShared(Self.services, .pointer(type), hasGoodbye: false)
            addShared(type, .pointer(instance))
            let data = DNSData.service(priority: 0, weight: 0, port: service.port, host: hostName)
            addUnique(instance, data, Self.hostLifetime)
            addUnique(instance, .text(service.textData), Self.lifetime)
            addAbsence(instance, others: [DNSType.text, DNSType.service])
            instances.append(instance)
        }
    }

    private mutating func addShared(_ name: DNSName, _ data: DNSData, hasGoodbye: Bool = true) {
        let record = DNSRecord(name: name, data: data, ttl: Self.lifetime)
        all.append(OwnRecord(record: record, use: .shared, hasGoodbye: hasGoodbye))
    }

    private mutating func addUnique(_ name: DNSName, _ data: DNSData, _ ttl: UInt32) {
        all.append(OwnRecord(record: DNSRecord(name: name, data: data, ttl: ttl, isUnique: true), use: .unique))
    }

    private mutating func addAbsence(_ name: DNSName, others: [UInt16]) {
        let record = DNSRecord(name: name, data: .absence(others), ttl: Self.hostLifetime, isUnique: true)
        all.append(OwnRecord(record: record, use: .absence))
    }

    // MARK: Questions about them

    /// The names that only this machine may have.
    var uniqueNames: [DNSName] { [hostName] + instances }

    func isUnique(_ name: DNSName) -> Bool { name == hostName || instances.contains(name) }

    /// The unique records of a name: those that a probe proposes.
    func unique(_ name: DNSName) -> [DNSRecord] {
        all.compactMap { $0.use == .unique && $0.record.name == name ? $0.record : nil }
    }

    func index(of record: DNSRecord) -> Int? { all.firstIndex { $0.record.isSame(as: record) } }

    /// The records that answer a question; the denial of a unique name when it has no record of the type.
    func answers(to question: DNSQuestion) -> [Int] {
        let named = all.indices.filter { all[$0].record.name == question.name }
        let found = named.filter {
            let isDenial = all[$0].use == .absence
            return question.type == DNSType.any ? !isDenial : all[$0].record.data.type == question.type
        }
        return found.isEmpty ? named.filter { all[$0].use == .absence } : found
    }

    /// Whether the querier has the record for at least half of its time (RFC 6762, 7.1).
    func isKnown(_ index: Int, in query: DNSMessage) -> Bool {
        let own = all[index].record
        return query.answers.contains { $0.ttl >= own.ttl / 2 && $0.isSame(as: own) }
    }

    /// The records that a receiver of these will ask for next (RFC 6763, 12), without those.
    func additional(to indices: [Int]) -> [Int] {
        var found: [Int] = []
        func add(_ isWanted: (OwnRecord) -> Bool) {
            for index in all.indices where isWanted(all[index]) && !indices.contains(index) && !found.contains(index) {
                found.append(index)
            }
        }
        for index in indices {
            if case .pointer(let target) = all[index].record.data {
                add { $0.use == .unique && $0.record.name == target }
            }
        }
        for index in indices + found {
            if case .service = all[index].record.data { add { $0.use == .unique && $0.record.name == hostName } }
        }
        // The missing one of the types of addresses (RFC 6762, 6.2).
        let types = Set((indices + found).map { all[$0].record.data.type })
        let isOfHost = types.contains(DNSType.address4) || types.contains(DNSType.address6)
        if isOfHost, !(hasAddress(DNSType.address4) && hasAddress(DNSType.address6)) {
            add { $0.use == .absence && $0.record.name == hostName }
        }
        return found
    }

    private func hasAddress(_ type: UInt16) -> Bool { all.contains { $0.record.data.type == type } }

    // MARK: Times

    mutating func wasMulticast(_ index: Int, at now: Int64) { all[index].lastMulticast = now }

    /// Takes the times of the records that an earlier set had, too.
    mutating func takeTimes(from earlier: OwnRecords) {
        for index in all.indices {
            if let before = earlier.index(of: all[index].record) {
                all[index].lastMulticast = earlier.all[before].lastMulticast
            }
        }
    }
}
