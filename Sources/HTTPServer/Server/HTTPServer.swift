import CLinux
import CMicroHTTPD
import Crypto
import Platform

/// A server with libmicrohttpd: a thread for each connection, HTTP/1.1 with persistent connections. TLS is that of
/// GnuTLS, where libmicrohttpd has it, or of a `TLSFront`.
///
/// Thread: any. The end of this object closes all connections.
/// `@unchecked Sendable` is safe because its state never changes.
package final class HTTPServer: @unchecked Sendable {
    /// PEM texts.
    package struct Identity: Sendable {
        package var certificate: String
        package var key: String

        package init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }

    package struct Refused: Error {}

    /// The limits of the connections. Each connection takes a thread.
    package struct Limits: Sendable {
        /// The most connections: more than a house has players. When they are taken, each network has a fair share
        /// (`ClientPlaces`).
        package var connections: UInt32 = 512
        /// The most connections of one address, so that others find a place. A proxy has one address for all clients.
        package var ofAddress: UInt32 = 384
        /// A connection whose request is not complete, or whose client reads nothing, ends after this time in seconds.
        package var idleSeconds: UInt32 = 60

        /// Connections that have made room for others end a little later.
        var mostConnections: UInt32 { connections + connections / 2 }

        package init() {}
    }

    private let context: Context
    private let daemon: OpaquePointer
    let front: TLSFront?

    /// - Parameter identity: the certificate of TLS; nil without TLS.
    /// - Throws: `Refused` when the certificate and its key are not usable, or no thread can be made.
    package init(on socket: ListeningSocket, identity: Identity?, limits: Limits = Limits(), _ service: HTTPService)
        throws(Refused)
    {
        // A client that disconnects during an answer must not end the process.
        tonearm_ignore_signal(SIGPIPE)
        let context = Context(isSecure: identity != nil, service: service, limits)
        self.context = context
        let pointer = Unmanaged.passUnretained(context).toOpaque()
        let started: OpaquePointer? = withUnsafePointer(to: handlers) { handlers in
            if let identity {
                tonearm_http_start(
                    socket.descriptor, identity.certificate, identity.key, limits.mostConnections, limits.ofAddress,
                    limits.idleSeconds, handlers, pointer)
            } else {
                tonearm_http_start(
                    socket.descriptor, nil, nil, limits.mostConnections, limits.ofAddress, limits.idleSeconds, handlers,
                    pointer)
            }
        }
        // libmicrohttpd may have closed the socket: its number could be another thread's file by now.
        guard let started else { throw Refused() }
        daemon = started
        // Started before the last property is set, because otherwise `deinit` would run as well.
        do throws(SystemError) { try context.watch.start() } catch {
            MHD_stop_daemon(started)
            throw Refused()
        }
        front = nil
    }

    /// Makes a server with TLS by mbedTLS.
    /// - Parameters:
    ///   - limits: they count from the beginning of a connection, the handshake included.
    ///   - plainAddress: returns the address of this machine at which clients without TLS are served too; nil for none.
    ///     They get a refusal elsewhere. Called on the front's thread.
    ///   - loop: that of the front's thread; nil makes one.
    /// - Throws: `Refused` when no thread or descriptor can be made.
    package init(
        on socket: ListeningSocket, tls identity: TLSIdentity, limits: Limits = Limits(),
        plainAddress: (@Sendable () -> String?)? = nil, loop: EventLoop? = nil, _ service: HTTPService
    ) throws(Refused) {
        tonearm_ignore_signal(SIGPIPE)
        let listener = StreamSocket(owning: socket.descriptor)
        let context = Context(isSecure: false, service: service, limits)
        self.context = context
        let started: OpaquePointer? = withUnsafePointer(to: handlers) {
            tonearm_http_start_unbound(
                limits.mostConnections, limits.ofAddress, limits.idleSeconds, $0,
                Unmanaged.passUnretained(context).toOpaque())
        }
        guard let started else { throw Refused() }
        daemon = started
        do throws(SystemError) {
            let loop = if let loop { loop } else { try EventLoop() }
            let front = TLSFront(on: listener, identity, limits: limits, loop: loop, plainAddress: plainAddress) {
                tonearm_http_add(started, $0, $1) == 1
            }
            try context.watch.start()
            try front.start()
            self.front = front
        } catch {
            MHD_stop_daemon(started)
            context.watch.stop()
            throw Refused()
        }
    }

    deinit {
        // The front adds connections to the server, and sends the last bytes of the server.
        front?.refuseMore()
        MHD_stop_daemon(daemon)
        front?.stop()
        context.watch.stop()
    }

    /// The state of a server that its connections share.
    final class Context: Sendable {
        /// Whether libmicrohttpd has TLS.
        let isSecure: Bool
        let service: HTTPService
        let watch: ConnectionWatch

        init(isSecure: Bool, service: HTTPService, _ limits: Limits) {
            self.isSecure = isSecure
            self.service = service
            watch = ConnectionWatch(
                ConnectionTable(
                    limit: Int(limits.connections), patience: Int64(limits.idleSeconds) * 1_000_000_000))
        }
    }
}
