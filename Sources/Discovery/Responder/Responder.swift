/// A responder of multicast DNS and service discovery (RFC 6762, RFC 6763), as a value: packets, links and times in,
/// packets and the time of the next wake-up out.
///
///     var responder = Responder(names, services, seed: 1)
///     var packets = responder.update(links, at: now)      // begins to probe
///     packets = responder.wake(at: responder.nextWakeUp!)  // the first probe
///     packets = responder.receive(packet, at: now)
///
/// Each link is probed by itself; the names are the same on all. A conflict while a name is probed gives it a number,
/// and everything is probed again.
struct Responder: Sendable {
    private(set) var names: ServiceNames
    private let services: [AnnouncedService]
    private var jitter: Jitter
    private var conflicts = ConflictHistory()
    private var links: [LinkResponder] = []
    /// The addresses of this machine on all links.
    private var ownAddresses: [IPAddress] = []

    init(_ names: ServiceNames, _ services: [AnnouncedService], seed: UInt64) {
        self.names = names
        self.services = services
        jitter = Jitter(seed: seed)
    }

    /// When `wake` has something to do; nil when nothing is to be done until a packet comes.
    var nextWakeUp: Int64? {
        var next: Int64?
        for index in links.indices {
            if let due = links[index].nextWakeUp { next = min(next ?? due, due) }
        }
        return next
    }

    /// Whether all links have been announced on.
    var isEstablished: Bool { !links.indices.contains { links[$0].phase != .established } }

    /// Takes the links that there are now, those with an address to announce. New ones are probed, changed ones are
    /// announced again.
    mutating func update(_ all: [DiscoveryLink], at now: Int64) -> [OutgoingPacket] {
        let usable = all.filter { !$0.announced.isEmpty }
        var packets: [OutgoingPacket] = []
        ownAddresses = []
        for link in usable { for own in link.addresses { ownAddresses.append(own.address) } }
        for index in links.indices.reversed() where !usable.contains(where: { $0.index == links[index].link.index }) {
            links.remove(at: index)
        }
        for link in usable {
            let records = records(of: link)
            if let index = index(of: link.index) {
                packets += links[index].update(link, records, at: now, &jitter)
            } else {
                links.append(LinkResponder(link, records))
                links[links.count - 1].probe(at: now, &jitter)
            }
        }
        return packets + wake(at: now)
    }

    private func index(of link: Int32) -> Int? {
        for index in links.indices where links[index].link.index == link { return index }
        return nil
    }

    @inline(never)
    private func records(of link: DiscoveryLink) -> OwnRecords {
        OwnRecords(names: names, services: services, addresses: link.announced)
    }

    /// Sends everything that is due.
    mutating func wake(at now: Int64) -> [OutgoingPacket] {
        var packets: [OutgoingPacket] = []
        for index in links.indices { packets += links[index].wake(at: now) }
        if isEstablished { conflicts.reset() }
        return packets
    }

    /// Takes a packet. Malformed ones, and those of other machines than the link's, change nothing.
    mutating func receive(_ packet: IncomingPacket, at now: Int64) -> [OutgoingPacket] {
        guard let index = index(of: packet.link),
            let message = DNSMessage(parsing: packet.bytes)
        else { return [] }
        guard message.isResponse else {
            links[index].receive(query: message, packet, ownAddresses: ownAddresses, at: now, &jitter)
            return wake(at: now)
        }
        // RFC 6762, 6 and 11.
        guard packet.source.port == MulticastDNS.port,
            packet.isMulticast || links[index].link.has(packet.source.address)
        else { return [] }
        let taken = links[index].receive(response: message, ownAddresses: ownAddresses, at: now)
        let withdrawals = taken.isEmpty ? [] : resolve(taken, of: index, at: now)
        return withdrawals + wake(at: now)
    }

    /// The end of everything that was announced. Must be the last call.
    mutating func stop() -> [OutgoingPacket] {
        var packets: [OutgoingPacket] = []
        for index in links.indices { packets += links[index].goodbye() }
        links = []
        return packets
    }

    // MARK: Conflicts

    /// A name that was established is probed again: the other machine may give way (RFC 6762, 9). One that is being
    /// probed is given up.
    private mutating func resolve(_ taken: [DNSName], of index: Int, at now: Int64) -> [OutgoingPacket] {
        let pause = conflicts.pause(afterConflictAt: now)
        guard links[index].isProbing else {
            links[index].probe(at: now, pause: pause, &jitter)
            return []
        }
        let isOfHost = taken.contains(names.hostName)
        let isOfInstance = taken.count > (isOfHost ? 1 : 0)
        var packets: [OutgoingPacket] = []
        if isOfHost { names.renameHost() }
        if isOfInstance {
            for index in links.indices { packets += links[index].withdrawal(except: taken) }
            names.renameInstance()
        }
        for index in links.indices {
            links[index].rename(records(of: links[index].link))
            links[index].probe(at: now, pause: pause, &jitter)
        }
        return packets
    }
}

/// How often names had to be given up: after 15 conflicts within 10 s, each further attempt waits for 5 s (RFC 6762,
/// 8.1).
struct ConflictHistory: Sendable {
    private static let limit = 15
    private static let period = 10 * MulticastDNS.second
    private static let longPause = 5 * MulticastDNS.second

    private var times: [Int64] = []
    private var isSlow = false

    /// - Returns: the nanoseconds before the next attempt.
    mutating func pause(afterConflictAt now: Int64) -> Int64 {
        if times.count == Self.limit { times.removeFirst() }
        times.append(now)
        if times.count == Self.limit, now - times[0] <= Self.period { isSlow = true }
        return isSlow ? Self.longPause : 0
    }

    /// The names are established.
    mutating func reset() {
        times = []
        isSlow = false
    }
}
