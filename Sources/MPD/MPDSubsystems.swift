import Appliance
import Platform

/// The parts of the player for whose changes a client waits with `idle`.
struct MPDSubsystems: OptionSet, Equatable, Sendable {
    let rawValue: UInt16

    static let database = MPDSubsystems(rawValue: 1 << 0)
    static let storedPlaylist = MPDSubsystems(rawValue: 1 << 1)
    static let playlist = MPDSubsystems(rawValue: 1 << 2)
    static let player = MPDSubsystems(rawValue: 1 << 3)
    static let mixer = MPDSubsystems(rawValue: 1 << 4)
    static let output = MPDSubsystems(rawValue: 1 << 5)
    static let options = MPDSubsystems(rawValue: 1 << 6)
    static let sticker = MPDSubsystems(rawValue: 1 << 7)
    static let update = MPDSubsystems(rawValue: 1 << 8)
    static let subscription = MPDSubsystems(rawValue: 1 << 9)
    static let message = MPDSubsystems(rawValue: 1 << 10)
    static let neighbor = MPDSubsystems(rawValue: 1 << 11)
    static let mount = MPDSubsystems(rawValue: 1 << 12)
    static let partition = MPDSubsystems(rawValue: 1 << 13)

    /// The names in the order of their bits, which is the order of MPD's answers.
    private static let names: [StaticString] = [
        "database", "stored_playlist", "playlist", "player", "mixer", "output", "options", "sticker", "update",
        "subscription", "message", "neighbor", "mount", "partition",
    ]

    static let all = MPDSubsystems(rawValue: (1 << 14) - 1)

    /// Reads the arguments of `idle`. Without arguments, returns all parts.
    init(parsing arguments: [String]) throws(MPDFailure) {
        self = arguments.isEmpty ? .all : []
        for name in arguments {
            guard let place = Self.names.firstIndex(where: { $0.isEqual(to: name, ignoringCase: true) }) else {
                throw MPDFailure(.argument, "Unrecognized idle event: \(name)")
            }
            insert(MPDSubsystems(rawValue: 1 << UInt16(place)))
        }
    }

    init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The answer to `idle`.
    var answer: MPDOutput {
        var output = MPDOutput()
        for (place, name) in Self.names.enumerated() where rawValue & (1 << UInt16(place)) != 0 {
            output.pair("changed", name.text)
        }
        return output
    }
}

extension StaticString {
    /// Compares by bytes.
    /// - Parameter ignoringCase: whether letters of ASCII are equal in both cases.
    func isEqual(to text: String, ignoringCase: Bool = false) -> Bool {
        withUTF8Buffer { bytes in
            guard bytes.count == text.utf8.count else { return false }
            return zip(bytes, text.utf8).allSatisfy { one, other in
                ignoringCase ? one.lowercased == other.lowercased : one == other
            }
        }
    }
}
