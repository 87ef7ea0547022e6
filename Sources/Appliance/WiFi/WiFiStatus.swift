/// The state of Wi-Fi, as the system has reported it.
package struct WiFiStatus: Equatable, Sendable {
    package enum Mode: String, CaseIterable, Sendable {
        /// No network is used, and Wi-Fi is not available.
        case off
        /// The machine searches for a known network.
        case connecting
        case connected
        /// The machine is the access point of a network of its own, for its set-up.
        case accessPoint = "access-point"
        /// The machine tries a network that a user has named.
        case trying
    }

    /// Why a network could not be joined.
    package enum Problem: String, CaseIterable, Sendable {
        case wrongPassword = "wrong-password"
        case notFound = "not-found"
        /// The network has not given the machine an address.
        case noAddress = "no-address"
        /// The access point does not admit the machine.
        case refused
    }

    /// The last attempt to join a network, which failed.
    package struct Failure: Equatable, Sendable {
        package var network: WiFiName
        /// The problem; nil when the system has not reported it.
        package var problem: Problem?
    }

    /// The state of Wi-Fi; nil while the system has reported nothing.
    package var mode: Mode?
    /// The network that is used, searched for or tried.
    package var network: WiFiName?
    /// The name of the network that the machine has opened.
    package var accessPoint: String?
    /// The machine's numeric IPv4 address in that network, while it is open.
    package var address: String?
    package var failure: Failure?
    /// The networks of the last scan, the strongest first.
    package var networks: [FoundWiFi] = []
    package var known: [KnownWiFi] = []
    /// Whether the system has not begun the last request.
    package var isWaiting = false
}

/// A network of a scan.
package struct FoundWiFi: Equatable, Sendable {
    package enum Security: String, CaseIterable, Sendable {
        case open, wpa2, wpa3
        case wpa2And3 = "wpa2+wpa3"
        /// Security that the machine cannot use: WEP, or accounts of an enterprise.
        case other
    }

    package var name: WiFiName
    /// In dBm.
    package var signal: Int
    package var security: Security
}

/// A network that the machine joins by itself.
package struct KnownWiFi: Equatable, Sendable {
    package var name: WiFiName
    /// Whether a user has added the network by a request. Other networks are in the system's configuration, which no
    /// request changes.
    package var canBeForgotten: Bool
}
