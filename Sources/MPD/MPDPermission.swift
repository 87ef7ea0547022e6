import Appliance

/// The permission of a client. Each level includes those before it.
enum MPDPermission: Int, Comparable, CaseIterable, Sendable {
    case none, read, add, control, admin

    private static let names: [StaticString] = ["none", "read", "add", "control", "admin"]

    init?(named name: String) {
        guard let place = Self.names.firstIndex(where: { $0.isEqual(to: name) }) else { return nil }
        self.init(rawValue: place)
    }

    static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
}

extension Configuration {
    /// The level of clients without a password.
    var mpdPermission: MPDPermission { choice(.mpdPermission, of: MPDPermission.allCases) }
}

/// The passwords of `[mpd] passwords`, one `LEVEL PASSWORD` per line.
struct MPDPasswords: Sendable {
    private let lines: [(level: MPDPermission, password: [UInt8])]
    private var limit = PasswordLimit()

    init() { lines = [] }

    /// - Returns: nil when a line has another form. Empty lines and lines that begin with # are ignored.
    init?(_ text: [UInt8]) {
        var lines: [(level: MPDPermission, password: [UInt8])] = []
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            if line.isEmpty || line.first == UInt8(ascii: "#") { continue }
            let words = line.split(separator: UInt8(ascii: " "), maxSplits: 1)
            guard words.count == 2, let level = MPDPermission(named: String(decoding: words[0], as: UTF8.self)) else {
                return nil
            }
            lines.append((level, Array(words[1])))
        }
        self.lines = lines
    }

    /// Returns the level of a password.
    /// - Parameters:
    ///   - address: the address of the client; empty for a client of the UNIX socket.
    ///   - now: the time of a monotonic clock, in seconds.
    /// - Throws: for a wrong password, and for any password while the client has to wait after wrong ones.
    mutating func level(of password: String, from address: [UInt8], at now: Int64) throws(MPDFailure) -> MPDPermission {
        let wait = limit.wait(for: address, at: now)
        guard wait == 0 else { throw MPDFailure(.password, "too many wrong passwords: try again in \(wait) s") }
        guard let level = level(of: password) else {
            limit.failed(address, at: now)
            throw MPDFailure(.password, "incorrect password")
        }
        limit.failed(address, at: now)
        limit.succeeded(address)
        return level
    }

    /// Returns the level of a password; nil for a wrong one. The time does not depend on the passwords.
    func level(of password: String) -> MPDPermission? {
        let given = Array(password.utf8)
        var found: MPDPermission?
        for line in lines {
            if SecretText.isEqual(given, line.password) { found = max(found ?? .none, line.level) }
        }
        return found
    }
}
