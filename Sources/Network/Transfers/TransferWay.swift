import CCurl
import CLinux
import Platform

/// The way of one transfer to its server: the addresses that it may connect to, and the interfaces
/// (docs/decisions/metered-by-route.md, docs/decisions/guests.md).
///
/// Thread: network.
struct TransferWay {
    private let gate: LinkGate
    private let peers: KnownPeers
    private let mayUseMeteredLink: Bool
    /// nil: all hosts may have a local address.
    private let localHosts: [String]?
    /// The host of the proxy; nil without one.
    private let proxy: WebAddress?
    private var host = ""
    /// The addresses that the current request connects to, or is connected to.
    private var tried: [PeerAddress] = []
    /// Whether the host's name is being looked up.
    private var isLookingUp = false
    /// Why no address was tried; nil when one was tried, or none was requested.
    private(set) var refusal: TransferError?

    init(
        _ settings: LinkSettings, proxy: String?, peers: KnownPeers, mayUseMeteredLink: Bool,
        localHosts: [String]? = nil
    ) {
        gate = LinkGate(settings: settings)
        self.peers = peers
        self.mayUseMeteredLink = mayUseMeteredLink
        self.localHosts = localHosts
        self.proxy = proxy.flatMap { WebAddress($0) }
    }

    /// Begins the next request of the transfer, the first one or that of a redirect.
    mutating func begin(host: String) {
        self.host = host
        (tried, refusal, isLookingUp) = ([], nil, false)
    }

    /// Checks whether the host's name may be looked up now.
    /// - Returns: the reason when it may not.
    mutating func lookUp() -> TransferError? {
        let name = proxy?.host ?? host
        if PeerAddress.isInDigits(host: name) || name.utf8.elementsEqual("localhost".utf8) { return nil }
        isLookingUp = true
        return lookUpFault
    }

    private var lookUpFault: TransferError? {
        guard !mayUseMeteredLink, let server = NameServers.first(in: Self.contents(of: "/etc/resolv.conf")),
            gate.answer(for: server) == .metered
        else { return nil }
        return NameServers.isKnown(proxy?.host ?? host, in: Self.contents(of: "/etc/hosts")) ? nil : .meteredLink
    }

    /// Returns an empty array when the file is missing.
    private static func contents(of path: String) -> [UInt8] {
        do throws(SystemError) { return try File.contents(of: path, limit: 1 << 20) } catch { return [] }
    }

    /// Returns a socket for this address; CURL_SOCKET_BAD when the transfer may not connect to it.
    mutating func openSocket(_ address: UnsafePointer<curl_sockaddr>) -> curl_socket_t {
        isLookingUp = false
        guard let bytes = tonearm_curl_address(address),
            let peer = PeerAddress(bytes, count: Int(address.pointee.addrlen))
        else { return CURL_SOCKET_BAD }
        guard mayConnect(to: peer) else {
            refuse(.localAddress)
            return CURL_SOCKET_BAD
        }
        if proxy == nil { peers.connects(to: host, peer) }
        guard !mayUseMeteredLink else {
            connects(to: peer)
            return tonearm_curl_open_socket(address)
        }
        switch answer(for: peer) {
        case .local:
            connects(to: peer)
            return tonearm_curl_open_socket(address)
        case .open(let interface):
            let (family, type, kind) = (
                address.pointee.family, address.pointee.socktype, address.pointee.`protocol`
            )
            let socket = tonearm_open_bound_socket(family, type, kind, interface)
            guard socket >= 0 else {
                refuse(.connection(ConnectionFailure(errno: Int(tonearm_errno()))))
                return CURL_SOCKET_BAD
            }
            connects(to: peer)
            return socket
        case .metered:
            refuse(.meteredLink)
            return CURL_SOCKET_BAD
        case .unreachable:
            refuse(.connection(.unreachable))
            return CURL_SOCKET_BAD
        }
    }

    private mutating func connects(to peer: PeerAddress) {
        tried.append(peer)
        refusal = nil
    }

    /// Records a refusal, if no address was tried before. A metered way has priority over other reasons, because it
    /// makes the transfer wait for another link.
    private mutating func refuse(_ reason: TransferError) {
        if tried.isEmpty, refusal != .meteredLink { refusal = reason }
    }

    /// Returns the gate's answer. The further way of a proxy on this machine is unknown, so that it may count as
    /// metered.
    private func answer(for peer: PeerAddress) -> LinkGate.Answer {
        let answer = gate.answer(for: peer)
        guard answer == .local, proxy != nil else { return answer }
        return LinkGate.costs(gate.settings).isUnknownMetered ? .metered : .local
    }

    /// Whether the host may have this address. A proxy looks up names itself, so that only the name counts.
    private func mayConnect(to peer: PeerAddress) -> Bool {
        guard let localHosts, !localHosts.contains(where: { $0.utf8.elementsEqual(host.utf8) }) else { return true }
        if proxy != nil { return !Network.isLocal(host: host) }
        return !peer.isLocal && gate.answer(for: peer) != .local
    }

    /// Checks whether a request may be sent on a connection to this address, which may have been open before.
    /// - Returns: the reason when it may not.
    mutating func fault(of address: String?, port: Int) -> TransferError? {
        if mayUseMeteredLink, localHosts == nil { return nil }
        guard let address, let peer = PeerAddress(address, port: port) else {
            return mayUseMeteredLink ? .localAddress : .meteredLink
        }
        if !mayConnect(to: peer) { return .localAddress }
        if mayUseMeteredLink { return nil }
        (tried, isLookingUp) = ([peer], false)
        return isAllowedNow ? nil : .meteredLink
    }

    /// Whether the current routes permit all addresses that it tries, or the one that it is connected to.
    var isAllowedNow: Bool {
        if mayUseMeteredLink { return true }
        if isLookingUp, lookUpFault != nil { return false }
        return tried.allSatisfy { peer in
            switch answer(for: peer) {
            case .local, .open: true
            case .metered, .unreachable: false
            }
        }
    }
}

/// The addresses of the most recent connections, by host.
///
/// Thread: any.
/// `@unchecked Sendable` is safe because `lock` guards the mutable state.
final class KnownPeers: @unchecked Sendable {
    private static let most = 8

    private let lock = Lock()
    private var known: [(host: String, peer: PeerAddress)] = []

    func connects(to host: String, _ peer: PeerAddress) {
        lock.withLock {
            known.removeAll { $0.host.utf8.elementsEqual(host.utf8) }
            if known.count == Self.most { known.removeFirst() }
            known.append((host, peer))
        }
    }

    func last(of host: String) -> PeerAddress? {
        lock.withLock { known.last { $0.host.utf8.elementsEqual(host.utf8) }?.peer }
    }
}
