/// The subject of a request. The subject decides whether guests may send the request (docs/decisions/guests.md).
package enum RequestKind: CaseIterable, Sendable {
    case music
    /// The machine, its software, or the account of the content service.
    case system
    /// The Wi-Fi networks of the machine.
    case wifi
    /// A setting, whose `access` decides.
    case setting
}

/// The rights of a client.
package enum ClientRights: Sendable {
    case all
    /// A guest, who may use the music and its settings.
    case music
    /// A guest in the network that the machine has opened for its set-up, who may also use Wi-Fi requests.
    case musicAndWiFi

    var isOfGuest: Bool {
        switch self {
        case .all: false
        case .music, .musicAndWiFi: true
        }
    }

    package func allows(_ kind: RequestKind) -> Bool {
        switch kind {
        case .music, .setting: true
        case .system: self == .all
        case .wifi: self != .music
        }
    }

    /// The kinds of requests for programs, without settings.
    package var names: [String] {
        switch self {
        case .all: ["music", "wifi", "system"]
        case .music: ["music"]
        case .musicAndWiFi: ["music", "wifi"]
        }
    }
}
