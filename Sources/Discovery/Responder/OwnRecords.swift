/// A record that this machine answers with on one link.
struct OwnRecord: Sendable {
    enum Use: Sendable {
        /// A type of services. It does not end with this machine: others may have the same type (RFC 6763, 9).
        case type
        /// Others may have records of the same name and type.
        case shared
        /// Only this machine has records of its name.
        case unique
        /// The denial of other types of a unique name; neither probed nor announced.
        case absence
    }

    var record: DNSRecord
    let use: Use
    /// The index of the record's service in `OwnRecords.instances`; -1 for records of the host.
    let service: Int
    /// The time at which the record was last sent by multicast, in nanoseconds.
    var lastMulticast: Int64?

    var isShared: Bool { use == .shared || use == .type }
}

/// All records of this machine on one link.
struct OwnRecords: Sendable {
    private(set) var all: [OwnRecord] = []
    let hostName: DNSName
    private(set) var instances: [DNSName] = []
    /// Whether the host has no address of one of the versions.
    private var isWithoutVersion = false

    /// Records with a host name or its data (RFC 6762, 10).
    static let hostLifetime: UInt32 = 120
    static let lifetime: UInt32 = 4500

    private static let services = DNSName(unchecked: "_services._dns-sd._udp.local")

    init(names: ServiceNames, services: [AnnouncedService], addresses: [IPAddress]) {
        hostName = names.hostName
        var types: [UInt16] = []
        for address in addresses {
            let data = DNSData.address(address)
            types.append(data.type)
            add(hostName, data, .unique, Self.hostLifetime)
        }
        isWithoutVersion = !types.contains(DNSType.address4) || !types.contains(DNSType.address6)
        add(hostName, .absence(types), .absence, Self.hostLifetime)
        for service in services {
            guard let type = DNSName("\(service.type).local"),
                let instance = type.prefixed(by: Array(names.instance.utf8))
            else { continue }
            instances.append(instance)
            add(Self.services, .pointer(type), .type, Self.lifetime)
            add(type, .pointer(instance), .shared, Self.lifetime)
            add(
                instance, .service(priority: 0, weight: 0, port: service.port, host: hostName), .unique,
                Self.hostLifetime)
            add(instance, .text(service.textData), .unique, Self.lifetime)
            add(instance, .absence([DNSType.text, DNSType.service]), .absence, Self.hostLifetime)
        }
    }

    @inline(never)
    private mutating func add(_ name: DNSName, _ data: DNSData, _ use: OwnRecord.Use, _ ttl: UInt32) {
        let record = DNSRecord(name: name, data: data, ttl: ttl, isUnique: use == .unique || use == .absence)
        all.append(OwnRecord(record: record, use: use, service: instances.count - 1))
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
        var found: [Int] = []
        var denial: Int?
        for index in all.indices where all[index].record.name == question.name {
            let type = all[index].record.data.type
            if all[index].use == .absence { denial = index }
            if type == question.type || question.type == DNSType.any && all[index].use != .absence {
                found.append(index)
            }
        }
        if found.isEmpty, let denial { found.append(denial) }
        return found
    }

    /// The records that the querier has for at least half of their time (RFC 6762, 7.1).
    func known(in query: DNSMessage) -> [Int] {
        var known: [Int] = []
        for answer in query.answers {
            if let index = index(of: answer), answer.ttl >= all[index].record.ttl / 2 { known.append(index) }
        }
        return known
    }

    /// The records that a receiver of these will ask for next (RFC 6763, 12), without those.
    func additional(to indices: [Int]) -> [Int] {
        var found: [Int] = []
        var wantsHost = false
        var hasAddress = false
        for index in indices {
            let use = all[index].use
            if use == .unique, all[index].service < 0 { hasAddress = true }
            if use == .shared || all[index].record.data.type == DNSType.service { wantsHost = true }
            guard use == .shared else { continue }
            for other in all.indices where all[other].use == .unique && all[other].service == all[index].service {
                if !indices.contains(other) { found.append(other) }
            }
        }
        for index in all.indices where all[index].service < 0 && !indices.contains(index) {
            // Adds the record that denies the missing address type (RFC 6762, 6.2).
            let isWanted =
                all[index].use == .unique ? wantsHost : isWithoutVersion && (wantsHost || hasAddress)
            if isWanted { found.append(index) }
        }
        return found
    }

    func hasSameRecords(as other: OwnRecords) -> Bool {
        guard all.count == other.all.count else { return false }
        for index in all.indices where !all[index].record.isSame(as: other.all[index].record) { return false }
        return true
    }

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
