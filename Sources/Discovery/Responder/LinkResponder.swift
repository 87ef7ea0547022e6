/// The responder on one link, as a value: packets and times in, packets and the time of the next wake-up out.
///
/// It probes its unique names, announces all records, and then answers questions (RFC 6762, 6 to 8).
struct LinkResponder: Sendable {
    enum Phase: Equatable, Sendable {
        /// So many probes were sent.
        case probing(sent: Int)
        /// So many announcements were sent.
        case announcing(sent: Int)
        case established
    }

    private static let probeCount = 3
    static let probeInterval = 250 * MulticastDNS.millisecond
    private static let firstProbe: ClosedRange<Int64> = 0...250
    private static let announcementCount = 2
    /// A record is sent to all once in this time, and in `probeInterval` to defend its name (RFC 6762, 6).
    static let multicastInterval = MulticastDNS.second
    /// A question that comes so soon after an answer to all is answered by it: queries come over IPv4 and IPv6.
    static let answerInterval = 200 * MulticastDNS.millisecond
    /// How long the loser of a tie-break waits (RFC 6762, 8.2).
    static let lossInterval = MulticastDNS.second

    private(set) var link: DiscoveryLink
    var records: OwnRecords
    private(set) var phase = Phase.probing(sent: 0)
    /// Whether the names that it has now were announced.
    private(set) var isAnnounced = false
    private var phaseDue: Int64?
    private var lastAnnouncement: Int64?
    var replies = Replies()

    init(_ link: DiscoveryLink, _ records: OwnRecords) {
        self.link = link
        self.records = records
    }

    var isProbing: Bool { if case .probing = phase { true } else { false } }

    var nextWakeUp: Int64? {
        guard let reply = replies.nextDue else { return phaseDue }
        return phaseDue.map { min($0, reply) } ?? reply
    }

    // MARK: Names and addresses

    /// Begins to probe, after a random delay so that machines that start together do not collide.
    /// - Parameter pause: a longer delay before it.
    @inline(never)
    mutating func probe(at now: Int64, pause: Int64 = 0, _ jitter: inout Jitter) {
        phase = .probing(sent: 0)
        phaseDue = now + pause + jitter.milliseconds(Self.firstProbe)
        replies.removeAll()
    }

    /// Takes other names; `probe` follows.
    mutating func rename(_ records: OwnRecords) {
        self.records = records
        isAnnounced = false
    }

    /// Takes other addresses of the link. The names are its own already, so that it announces the change (RFC 6762,
    /// 8.4).
    /// - Returns: the goodbye of addresses, when none of their kind is left to replace them.
    mutating func update(
        _ link: DiscoveryLink, _ records: OwnRecords, at now: Int64, _ jitter: inout Jitter
    ) -> [OutgoingPacket] {
        self.link = link
        let earlier = self.records
        guard !records.hasSameRecords(as: earlier) else { return [] }
        self.records = records
        self.records.takeTimes(from: earlier)
        if isProbing {
            probe(at: now, &jitter)
            return []
        }
        replies.removeAll()
        phase = .announcing(sent: 0)
        phaseDue = max(now, lastAnnouncement.map { $0 + Self.multicastInterval } ?? now)
        var ended: [DNSRecord] = []
        for own in earlier.all where own.use == .unique && own.service < 0 {
            let type = own.record.data.type
            if !records.all.contains(where: { $0.record.data.type == type }) { ended.append(own.record) }
        }
        return goodbye(ended)
    }

    // MARK: Time

    /// Sends everything that is due.
    mutating func wake(at now: Int64) -> [OutgoingPacket] {
        var packets: [OutgoingPacket] = []
        while let due = phaseDue, due <= now { packets += step(at: now) }
        return packets + sendReplies(at: now)
    }

    private mutating func step(at now: Int64) -> [OutgoingPacket] {
        switch phase {
        case .probing(let sent) where sent < Self.probeCount:
            phase = .probing(sent: sent + 1)
            phaseDue = now + Self.probeInterval
            return probePackets
        case .probing:
            phase = .announcing(sent: 0)
            return []
        case .announcing(let sent):
            let isLast = sent + 1 == Self.announcementCount
            phase = isLast ? .established : .announcing(sent: sent + 1)
            phaseDue = isLast ? nil : now + Self.multicastInterval
            isAnnounced = true
            lastAnnouncement = now
            return multicast(
                records.all.indices.filter { records.all[$0].use != .absence && mayMulticast($0, now) }, now)
        case .established:
            phaseDue = nil
            return []
        }
    }

    /// Asks for all records of each name, and proposes its own.
    private var probePackets: [OutgoingPacket] {
        var message = DNSMessage()
        for name in records.uniqueNames {
            message.questions.append(DNSQuestion(name: name, type: DNSType.any, wantsUnicast: true))
            message.authorities += records.unique(name)
        }
        for index in message.authorities.indices { message.authorities[index].isUnique = false }
        return packets(message)
    }

    /// The end of everything that was announced.
    func goodbye() -> [OutgoingPacket] {
        var ended: [DNSRecord] = []
        for own in records.all where own.use == .shared || own.use == .unique { ended.append(own.record) }
        return isProbing ? [] : goodbye(ended)
    }

    /// The end of the services, except for names that other machines have.
    func withdrawal(except names: [DNSName]) -> [OutgoingPacket] {
        var ended: [DNSRecord] = []
        for own in records.all where own.service >= 0 && (own.use == .shared || own.use == .unique) {
            if !names.contains(records.instances[own.service]) { ended.append(own.record) }
        }
        return isAnnounced ? goodbye(ended) : []
    }

    private func goodbye(_ ended: [DNSRecord]) -> [OutgoingPacket] {
        var message = DNSMessage(isResponse: true)
        message.answers = ended
        for index in ended.indices { message.answers[index].ttl = 0 }
        return packets(message)
    }

    private func packets(_ message: DNSMessage) -> [OutgoingPacket] {
        message.packets(limit: MulticastDNS.packetLimit).all.map { OutgoingPacket(bytes: $0, link: link.index) }
    }
}
