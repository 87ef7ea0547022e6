import CLinux
import Platform

/// Announces services of this machine on every link, so that others find them by multicast DNS (RFC 6762, RFC 6763).
///
///     let announcer = ServiceAnnouncer(
///         loop: loop, name: "Kitchen", host: "kitchen",
///         services: [AnnouncedService(type: "_http._tcp", port: 80, texts: ["path=/"])])
///     announcer.renamed = { name, host in … }      // another machine has the name
///     try announcer.start()
///     announcer.stop()                             // the others forget it
///
/// The loop wakes up for packets, changes of links and the answers that follow, and for nothing else.
///
/// Thread: the loop's.
package final class ServiceAnnouncer {
    /// Called when another machine has a name already, with the names that are probed next.
    package var renamed: (_ name: String, _ host: String) -> Void = { _, _ in }

    private let loop: EventLoop
    private var responder: Responder
    private var reader: LinkReader?
    private var sockets: [MulticastSocket] = []
    private var links: [DiscoveryLink] = []
    private var timer: TimerToken?

    /// Packets that are read before other work of the loop has its turn.
    private static let packetsAtOnce = 32

    /// - Parameters:
    ///   - name: the name that users see, at most 63 bytes; if empty, the host's name.
    ///   - host: the name of the machine; only its first label counts.
    package init(loop: EventLoop, name: String, host: String, services: [AnnouncedService]) {
        self.loop = loop
        let seed = SystemRandomSource().bytes(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        responder = Responder(ServiceNames(instance: name, host: host), services, seed: seed)
    }

    /// The names in use.
    package var name: String { responder.names.instance }
    package var host: String { responder.names.host }

    /// Opens the sockets and begins to probe the names.
    /// - Throws: when the port cannot be shared, or the kernel does not report links. Nothing is open then.
    package func start() throws(SystemError) {
        loop.assertOnLoop()
        do throws(SystemError) {
            sockets = try Self.openSockets()
            for socket in sockets {
                try loop.watch(socket.descriptor, for: .readable) { [self] _ in receive(from: socket) }
            }
            let reader = try LinkReader(loop)
            self.reader = reader
            try reader.watch { [self] in readLinks() }
        } catch {
            close()
            throw error
        }
        readLinks()
    }

    /// A kernel may be without IPv6.
    private static func openSockets() throws(SystemError) -> [MulticastSocket] {
        var sockets = [try MulticastSocket(isVersion6: false)]
        do throws(SystemError) { sockets.append(try MulticastSocket(isVersion6: true)) } catch {
            guard error.code == EAFNOSUPPORT || error.code == EADDRNOTAVAIL else { throw error }
        }
        return sockets
    }

    /// Sends the goodbye, and closes the sockets. Idempotent; `start` may follow.
    package func stop() {
        loop.assertOnLoop()
        guard !sockets.isEmpty else { return }
        send(responder.stop())
        close()
    }

    private func close() {
        for socket in sockets { loop.unwatch(socket.descriptor) }
        sockets = []
        reader?.stop()
        reader = nil
        if let timer { loop.cancel(timer) }
        timer = nil
        links = []
    }

    // MARK: Events

    private func readLinks() {
        guard let reader else { return }
        links = LinkReader.links()
        for link in links {
            for socket in sockets where Self.has(link, socket) {
                if !socket.join(link.index) { Log.warning("services cannot be found on one of the interfaces") }
            }
        }
        proceed(responder.update(links, at: loop.now))
    }

    private func receive(from socket: MulticastSocket) {
        for _ in 0..<Self.packetsAtOnce {
            guard let packet = socket.receive() else { return }
            let before = responder.names.changeCount
            let answers = responder.receive(packet, at: loop.now)
            proceed(answers)
            if responder.names.changeCount != before { renamed(name, host) }
        }
    }

    /// Sends packets, and sets the timer for the next ones.
    private func proceed(_ packets: [OutgoingPacket]) {
        send(packets)
        if let timer { loop.cancel(timer) }
        timer = responder.nextWakeUp.map { due in
            // `due` is later than the packets that were just made; a delay of 0 would look like a loop without end.
            loop.schedule(after: max(due - loop.now, 1)) { [self] in
                timer = nil
                proceed(responder.wake(at: loop.now))
            }
        }
    }

    private func send(_ packets: [OutgoingPacket]) {
        for packet in packets {
            for socket in sockets {
                if let destination = packet.destination {
                    if destination.address.isVersion6 == socket.isVersion6 { socket.send(packet) }
                } else if let link = links.first(where: { $0.index == packet.link }), Self.has(link, socket) {
                    socket.send(packet)
                }
            }
        }
    }

    /// Whether a link has an address of the socket's version, which its packets come from.
    private static func has(_ link: DiscoveryLink, _ socket: MulticastSocket) -> Bool {
        link.addresses.contains { $0.address.isVersion6 == socket.isVersion6 }
    }
}
