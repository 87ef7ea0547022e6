import Appliance

/// The messages that clients send to each other through channels.
struct MPDChannels {
    struct Message: Equatable {
        var channel: String
        var text: String
    }

    /// The channels of one client, and the messages that it has not read.
    private struct Mailbox {
        var channels: [String] = []
        var messages: [Message] = []
    }

    /// The maximum number of a client's channels, and of messages that wait for the client.
    static let limit = 16
    static let messageLimit = 64

    private var mailboxes: [UInt64: Mailbox] = [:]

    /// All channels with a subscriber.
    var names: [String] {
        var names: [String] = []
        for mailbox in mailboxes.values {
            for channel in mailbox.channels where !Self.contains(names, channel) { names.append(channel) }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    mutating func subscribe(_ client: UInt64, to channel: String) throws(MPDFailure) {
        guard Self.isName(channel) else { throw MPDFailure(.argument, "invalid channel name") }
        var mailbox = mailboxes[client] ?? Mailbox()
        if Self.contains(mailbox.channels, channel) {
            throw MPDFailure(.exists, "already subscribed to this channel")
        }
        if mailbox.channels.count == Self.limit { throw MPDFailure(.exists, "subscription list is full") }
        mailbox.channels.append(channel)
        mailboxes[client] = mailbox
    }

    mutating func unsubscribe(_ client: UInt64, from channel: String) throws(MPDFailure) {
        guard let mailbox = mailboxes[client], Self.contains(mailbox.channels, channel) else {
            throw MPDFailure(.noSuchObject, "not subscribed to this channel")
        }
        mailboxes[client]?.channels.removeAll { $0.utf8.elementsEqual(channel.utf8) }
    }

    /// - Returns: the clients that get the message.
    mutating func send(_ message: Message) throws(MPDFailure) -> [UInt64] {
        guard Self.isName(message.channel) else { throw MPDFailure(.argument, "invalid channel name") }
        var receivers: [UInt64] = []
        for client in Array(mailboxes.keys) {
            guard var mailbox = mailboxes[client], Self.contains(mailbox.channels, message.channel),
                mailbox.messages.count < Self.messageLimit
            else { continue }
            mailbox.messages.append(message)
            mailboxes[client] = mailbox
            receivers.append(client)
        }
        if receivers.isEmpty { throw MPDFailure(.noSuchObject, "nobody is subscribed to this channel") }
        return receivers
    }

    /// Removes and returns the messages that wait for a client.
    mutating func take(_ client: UInt64) -> [Message] {
        guard var mailbox = mailboxes[client] else { return [] }
        let messages = mailbox.messages
        mailbox.messages = []
        mailboxes[client] = mailbox
        return messages
    }

    mutating func forget(_ client: UInt64) { mailboxes[client] = nil }

    private static func contains(_ names: [String], _ name: String) -> Bool {
        names.contains { $0.utf8.elementsEqual(name.utf8) }
    }

    private static func isName(_ name: String) -> Bool {
        !name.utf8.isEmpty
            && name.utf8.allSatisfy { byte in
                (0x61...0x7A).contains(byte) || (0x41...0x5A).contains(byte) || (0x30...0x39).contains(byte)
                    || "-_.:".utf8.contains(byte)
            }
    }
}
