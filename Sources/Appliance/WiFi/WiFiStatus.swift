/// The state of Wi-Fi, as the system has reported it.
struct WiFiStatus: Equatable, Sendable {
    enum Mode: String, CaseIterable, Sendable {
        /// No network is used, and none can be.
        case off
        /// A known network is looked for.
        case connecting
        case connected
        /// The machine is the access point of a network of its own, for its set-up.
        case accessPoint = "access-point"
        /// A network that a user has named is tried.
        case trying
    }

    /// Why a network could not be joined.
    enum Problem: String, CaseIterable, Sendable {
        case wrongPassword = "wrong-password"
        case notFound = "not-found"
        /// The network has not given the machine an address.
        case noAddress = "no-address"
        /// The access point does not admit the machine.
        case refused
    }

    /// The last attempt to join a network, which failed.
    struct Failure: Equatable, Sendable {
        var network: WiFiName
        /// nil when the system has not said.
        var problem: Problem?
    }

    /// nil while the system has reported nothing.
    var mode: Mode?
    /// The network that is used, looked for or tried.
    var network: WiFiName?
    /// The name of the network that the machine has opened.
    var accessPoint: String?
    /// The machine's numeric IPv4 address in that network, while it is open.
    var address: String?
    var failure: Failure?
    /// The networks of the last scan, the strongest first.
    var networks: [FoundWiFi] = []
    var known: [KnownWiFi] = []
    /// Whether the system has not begun the last request.
    var isWaiting = false
}

/// A network of a scan.
struct FoundWiFi: Equatable, Sendable {
    enum Security: String, CaseIterable, Sendable {
        case open, wpa2, wpa3
        case wpa2And3 = "wpa2+wpa3"
        /// One that the machine cannot use: WEP, or accounts of an enterprise.
        case other
    }

    var name: WiFiName
    /// In dBm.
    var signal: Int
    var security: Security
}

/// A network that the machine joins by itself.
struct KnownWiFi: Equatable, Sendable {
    var name: WiFiName
    /// Whether a user has named it by a request. Others are in the system's configuration, which no request changes.
    var canBeForgotten: Bool
}
