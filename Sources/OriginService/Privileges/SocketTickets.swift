import Platform

/// Tickets for WebSockets: each opens one, soon after a client with a login has asked for it.
///
/// Thread: any.
/// `@unchecked Sendable` is safe because `lock` guards the tickets.
final class SocketTickets: @unchecked Sendable {
    /// In seconds.
    static let life: Int64 = 60
    /// The maximum number of unused ones. More are an attack or a mistake.
    private static let most = 1000

    private struct Ticket {
        var client: String
        var expires: Int64
    }

    private let random = SystemRandomSource()
    private let lock = Lock()
    private var tickets: [String: Ticket] = [:]

    /// - Parameters:
    ///   - client: the name of the client for users.
    ///   - now: the time in seconds since 1970.
    /// - Returns: nil when there are too many.
    func make(for client: String, at now: Int64) -> String? {
        let name = hexadecimal(random.bytes(32))
        return lock.withLock {
            tickets = tickets.filter { $0.value.expires >= now }
            guard tickets.count < Self.most else { return nil }
            tickets[name] = Ticket(client: client, expires: now + Self.life)
            return name
        }
    }

    /// Returns the client's name; nil for a ticket that is unknown, was used, or has expired.
    func use(_ name: String, at now: Int64) -> String? {
        lock.withLock {
            guard let ticket = tickets.removeValue(forKey: name), ticket.expires >= now else { return nil }
            return ticket.client
        }
    }
}
