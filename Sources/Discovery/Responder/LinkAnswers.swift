/// The answers to queries, and the effects of responses.
extension LinkResponder {
    // MARK: Queries

    /// - Parameter ownAddresses: the addresses of this machine on all links.
    mutating func receive(
        query: DNSMessage, _ packet: IncomingPacket, ownAddresses: [IPAddress], at now: Int64, _ jitter: inout Jitter
    ) {
        if isProbing {
            guard isTieLost(against: query, ownAddresses) else { return }
            return probe(at: now, pause: Self.lossInterval, &jitter)
        }
        let source = packet.source
        let isLegacy = source.port != MulticastDNS.port
        let isOnLink = link.has(source.address)
        guard packet.isMulticast && !isLegacy || isOnLink else { return }
        let more = query.isTruncated ? now + jitter.milliseconds(400...500) : nil
        let known = records.known(in: query)
        replies.sender(source, knows: known, due: more)

        var (forAll, forOne): ([Int], [Int]) = ([], [])
        for question in query.questions {
            let wantsUnicast = isOnLink && (question.wantsUnicast || !packet.isMulticast)
            for index in records.answers(to: question) where !known.contains(index) {
                let isForOne = isLegacy || wantsUnicast && wasMulticastLately(index, at: now)
                if forAll.contains(index) || forOne.contains(index) { continue }
                if isForOne { forOne.append(index) } else { forAll.append(index) }
            }
        }
        // Other machines may answer for shared records, too.
        let isShared = (forAll + forOne).contains { records.all[$0].isShared }
        let due = more ?? (isShared ? now + jitter.milliseconds(20...120) : now)
        let awaited = more == nil ? nil : source
        replies.add(
            Reply(
                destination: source, records: forOne, due: due, awaited: awaited,
                questions: isLegacy ? query.questions : [], id: query.id))
        if more != nil {
            replies.add(Reply(destination: nil, records: forAll, due: due, awaited: awaited))
        } else {
            sendToAll(forAll, due: due, isDefence: query.authorities.contains { records.isUnique($0.name) }, at: now)
        }
    }

    /// Whether another machine probes one of the names at the same time, and gets it. Probes of this machine on another
    /// interface are not of another one.
    private func isTieLost(against query: DNSMessage, _ ownAddresses: [IPAddress]) -> Bool {
        for name in records.uniqueNames {
            var theirs: [DNSRecord] = []
            var isOther = false
            for record in query.authorities where record.name == name {
                theirs.append(record)
                if !isOwn(record, ownAddresses) { isOther = true }
            }
            if isOther, TieBreak.isLost(records.unique(name), against: theirs) { return true }
        }
        return false
    }

    @inline(never)
    private func isOwn(_ record: DNSRecord, _ ownAddresses: [IPAddress]) -> Bool {
        switch record.data.type {
        // The record depends on the addresses of the link.
        case DNSType.absence: true
        case DNSType.address4, DNSType.address6:
            record.name == records.hostName && ownAddresses.contains(IPAddress(bytes: record.data.bytes))
        default: records.index(of: record) != nil
        }
    }

    /// Whether all machines have the record for three quarters of its time (RFC 6762, 5.4).
    private func wasMulticastLately(_ index: Int, at now: Int64) -> Bool {
        let own = records.all[index]
        return own.lastMulticast.map { now - $0 <= Int64(own.record.ttl) * MulticastDNS.second / 4 } ?? false
    }

    // MARK: Responses

    /// - Returns: the names that another machine has, too.
    mutating func receive(response: DNSMessage, ownAddresses: [IPAddress], at now: Int64) -> [DNSName] {
        var conflicts: [DNSName] = []
        for record in response.answers + response.additionals {
            if let index = records.index(of: record) {
                receiveOwn(record, index, at: now)
            } else if record.ttl > 0, records.isUnique(record.name), !isOwn(record, ownAddresses),
                isProbing || isTaken(record.data.type, of: record.name), !conflicts.contains(record.name)
            {
                conflicts.append(record.name)
            }
        }
        return conflicts
    }

    /// Whether it has unique records of this name and type.
    private func isTaken(_ type: UInt16, of name: DNSName) -> Bool {
        records.unique(name).contains { $0.data.type == type }
    }

    /// Another machine says the same as a record of this one: then it need not say it, too (RFC 6762, 7.4), unless the
    /// other's time is too short (RFC 6762, 6.6).
    private mutating func receiveOwn(_ record: DNSRecord, _ index: Int, at now: Int64) {
        guard !isProbing else { return }
        let ttl = records.all[index].record.ttl
        if record.ttl >= ttl {
            records.wasMulticast(index, at: now)
            replies.wasSentToAll(index)
        } else if record.ttl < ttl / 2 {
            replies.addForAll(index, due: max(now, earliest(index, Self.multicastInterval) ?? now))
        }
    }

    // MARK: Replies

    private mutating func sendToAll(_ indices: [Int], due: Int64, isDefence: Bool, at now: Int64) {
        for index in indices {
            if !isDefence, let last = records.all[index].lastMulticast, now - last < Self.answerInterval { continue }
            let interval = isDefence ? Self.probeInterval : Self.multicastInterval
            replies.addForAll(index, due: max(due, earliest(index, interval) ?? due))
        }
    }

    private func earliest(_ index: Int, _ interval: Int64) -> Int64? {
        records.all[index].lastMulticast.map { $0 + interval }
    }

    func mayMulticast(_ index: Int, _ now: Int64) -> Bool {
        earliest(index, Self.multicastInterval).map { $0 <= now } ?? true
    }

    mutating func sendReplies(at now: Int64) -> [OutgoingPacket] {
        var packets: [OutgoingPacket] = []
        for reply in replies.takeDue(at: now) {
            if let endpoint = reply.destination {
                packets +=
                    reply.questions.isEmpty
                    ? unicast(reply.records, to: endpoint) : [legacy(reply, to: endpoint)]
            } else if reply.awaited == nil {
                packets += multicast(reply.records, now)
            } else {
                sendToAll(reply.records, due: now, isDefence: false, at: now)
            }
        }
        for reply in replies.takeDue(at: now) { packets += multicast(reply.records, now) }
        return packets
    }

    /// Sends records to all, with those that will be asked for next.
    mutating func multicast(_ indices: [Int], _ now: Int64) -> [OutgoingPacket] {
        let additional = records.additional(to: indices).filter { mayMulticast($0, now) }
        let packets = response(indices, additional).packets(limit: MulticastDNS.packetLimit)
        for index in indices + additional.prefix(packets.additionalCount) {
            records.wasMulticast(index, at: now)
            replies.wasSentToAll(index)
        }
        return packets.all.map { OutgoingPacket(bytes: $0, link: link.index) }
    }

    private func unicast(_ indices: [Int], to endpoint: Endpoint) -> [OutgoingPacket] {
        response(indices, records.additional(to: indices)).packets(limit: MulticastDNS.packetLimit).all.map {
            OutgoingPacket(bytes: $0, link: link.index, destination: endpoint)
        }
    }

    private func response(_ indices: [Int], _ additional: [Int]) -> DNSMessage {
        var message = DNSMessage(isResponse: true)
        for index in indices { message.answers.append(records.all[index].record) }
        for index in additional { message.additionals.append(records.all[index].record) }
        return message
    }

    /// An answer as of a usual server: without the bit that only multicast DNS has, and valid for a short time, because
    /// the resolver does not hear of changes (RFC 6762, 6.7).
    private func legacy(_ reply: Reply, to endpoint: Endpoint) -> OutgoingPacket {
        var message = response(reply.records, records.additional(to: reply.records))
        message.id = reply.id
        message.questions = reply.questions
        for index in message.questions.indices { message.questions[index].wantsUnicast = false }
        for index in message.answers.indices { message.answers[index].makeLegacy() }
        for index in message.additionals.indices { message.additionals[index].makeLegacy() }
        return OutgoingPacket(
            bytes: message.legacyPacket(limit: MulticastDNS.legacyLimit), link: link.index, destination: endpoint)
    }
}

extension DNSRecord {
    fileprivate mutating func makeLegacy() {
        isUnique = false
        ttl = min(ttl, MulticastDNS.legacyLifetime)
    }
}
