import Platform

/// The server's end of one WebSocket: moves bytes between the connection and the value that understands them.
///
/// Thread: that of the loop.
package final class ServedWebSocket {
    private let socket: UpgradedSocket
    private let loop: EventLoop
    private var machine: WebSocketMachine
    private var unsent: [UInt8] = []
    private var timer: TimerToken?
    private var isEnded = false
    private let received: (String) -> Void
    /// Called once.
    private let ended: () -> Void

    /// More unsent bytes mean that the client does not read.
    private static let mostUnsent = 262_144

    package init(
        _ socket: UpgradedSocket, on loop: EventLoop, limits: WebSocketMachine.Limits,
        received: @escaping (String) -> Void, ended: @escaping () -> Void
    ) {
        self.socket = socket
        self.loop = loop
        self.received = received
        self.ended = ended
        machine = WebSocketMachine(.server, limits: limits, at: loop.now)
    }

    /// Reads and sends as much as possible, and waits for the rest.
    package func proceed() {
        read()
        settle()
    }

    /// Sends a text. It may be called from `received`.
    package func send(_ text: String) {
        handle(machine.send(text))
        settle()
    }

    /// Sends bytes that need not be a frame.
    package func send(bytes: [UInt8]) {
        unsent += bytes
        settle()
    }

    /// Begins the close handshake.
    package func close(code: UInt16) {
        handle(machine.close(code: code, at: loop.now))
        settle()
    }

    /// Sends as much as possible, and waits for the rest and for the client.
    private func settle() {
        write()
        guard !isEnded else { return }
        do throws(SystemError) {
            try loop.watch(socket.descriptor, for: unsent.isEmpty ? .readable : [.readable, .writable]) {
                [self] _ in proceed()
            }
        } catch {
            Log.warning("WebSocket: \(error.description)")
            return end()
        }
        if let timer { loop.cancel(timer) }
        timer = machine.deadline.map { deadline in
            loop.schedule(after: deadline - loop.now) { [self] in
                timer = nil
                handle(machine.timePassed(at: loop.now))
                settle()
            }
        }
    }

    private func read() {
        // Others have their turn after some bytes; the descriptor stays readable.
        for _ in 0..<4 where !isEnded {
            switch socket.receive() {
            case .bytes(let bytes): handle(bytes.withUnsafeBytes { machine.receive($0, at: loop.now) })
            case .nothing: return
            case .end: return end()
            }
        }
    }

    private func write() {
        while !isEnded, !unsent.isEmpty {
            guard let count = socket.send(unsent) else { return end() }
            unsent.removeFirst(count)
            if count == 0 { break }
        }
        if unsent.count > Self.mostUnsent { end() }
    }

    private func handle(_ outputs: [WebSocketMachine.Output]) {
        for output in outputs where !isEnded {
            switch output {
            case .send(let frame): unsent += frame.bytes(mask: nil)
            case .text(let text): received(text)
            case .ended:
                // The close frame.
                write()
                end()
            }
        }
    }

    /// Closes the connection, in any state. Idempotent.
    package func end() {
        guard !isEnded else { return }
        isEnded = true
        loop.unwatch(socket.descriptor)
        if let timer { loop.cancel(timer) }
        timer = nil
        socket.close()
        ended()
    }
}
