import Platform

/// Gets the keys of encrypted content: from a license server, a file, or a system that a licensee builds in.
///
/// Thread: only the decoder thread. It may block as long as the network needs.
public protocol LicenseProvider: AnyObject {
    /// The key with the ID of the request.
    ///
    /// It is called once for each key of a decoder, when content that needs the key is about to be decoded.
    /// - Returns: 16 bytes.
    /// - Throws: `.missingKey` when there is none; `.protected` when it cannot serve any of the systems; `.license`
    ///   when a server refuses; `.source` when it cannot be reached or the request is cancelled.
    func key(_ request: KeyRequest) throws(MediaError) -> [UInt8]
}

/// A key that content needs, and the systems that have it.
public struct KeyRequest: Equatable, Sendable {
    /// The ID of the key: 16 bytes.
    public var keyID: [UInt8]
    /// The systems that have the key, as far as the content names them.
    public var systems: [ProtectionSystem]

    public init(keyID: [UInt8], systems: [ProtectionSystem]) {
        self.keyID = keyID
        self.systems = systems
    }
}

/// A key system, and its own data for a license request (`pssh`; ISO/IEC 23001-7, 8.1).
public struct ProtectionSystem: Equatable, Sendable {
    public var system: KeySystem
    /// The whole box.
    public var box: [UInt8]

    public init(system: KeySystem, box: [UInt8]) {
        self.system = system
        self.box = box
    }
}

/// A system that grants keys, with its registered UUID.
public struct KeySystem: Equatable, Sendable {
    /// The registered UUID: 16 bytes.
    public let id: [UInt8]

    public init(id: [UInt8]) { self.id = id }

    /// The name for people; the UUID's digits for a system that is not known.
    public var name: String {
        let digits = hexadecimal(id)
        for (uuid, name) in Self.names where uuid.withUTF8Buffer({ digits.utf8.elementsEqual($0) }) { return "\(name)" }
        return "the key system \(digits)"
    }

    /// "Widevine, PlayReady", each once.
    static func names(of systems: [ProtectionSystem]) -> String {
        var names: [String] = []
        for system in systems {
            let name = system.system.name
            if !names.contains(where: { $0.utf8.elementsEqual(name.utf8) }) { names.append(name) }
        }
        return names.isEmpty ? "a key system that it does not name" : names.joined(separator: ", ")
    }

    private static let names: [(uuid: StaticString, name: StaticString)] = [
        ("edef8ba979d64acea3c827dcd51d21ed", "Widevine"),
        ("9a04f07998404286ab92e65be0885f95", "PlayReady"),
        ("94ce86fb07ff4f43adb893d2fa968ca2", "FairPlay"),
        // The first is in boxes of all systems that take any key (W3C, "cenc" Initialization Data Format).
        ("1077efecc0b24d02ace33c1e52e2fb4b", "ClearKey"),
        ("e2719d58a985b3c9781ab030af78d30e", "ClearKey"),
        ("5e629af538da4063897797ffbd9902d4", "Marlin"),
    ]
}

/// Keys that are known in advance.
///
/// Thread: any; it never changes.
public final class ContentKeys: LicenseProvider, Sendable {
    public struct Key: Equatable, Sendable {
        /// The ID of the key: 16 bytes.
        public var id: [UInt8]
        /// The key: 16 bytes.
        public var value: [UInt8]

        public init(id: [UInt8], value: [UInt8]) {
            self.id = id
            self.value = value
        }
    }

    private let keys: [Key]

    public init(_ keys: [Key]) { self.keys = keys }

    public func key(_ request: KeyRequest) throws(MediaError) -> [UInt8] {
        guard let key = keys.first(where: { $0.id == request.keyID }) else { throw .missingKey(id: request.keyID) }
        return key.value
    }
}
