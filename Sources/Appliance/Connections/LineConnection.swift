import Platform

/// A client's connection as lines in both directions. Applies back-pressure: it stops reading from a client whose
/// output buffer is full.
///
/// Thread: the loop's.
package final class LineConnection {
    /// The limits of the bytes that wait for a client. From `pauseLimit` on, no more lines are read from it. At
    /// `outputLimit` it is disconnected.
    static let pauseLimit = 64 << 10
    static let outputLimit = 256 << 10
    package static let lineLimit = 64 << 10
    /// A turn ends when its lines and their replies reach this many bytes: Lines and replies of this size take about a
    /// millisecond.
    static let turnBytes = 8 << 10

    /// The lines that are handled before other clients have their turn.
    private struct Turn {
        /// The most lines of a turn.
        private static let mostLines = 16

        var isRunning = false
        /// Whether more lines have arrived. They are handled after other clients had their turn.
        var hasMore = false
        var lineCount = 0
        /// The bytes of the lines that were received and sent.
        var byteCount = 0

        var isOver: Bool { lineCount >= Self.mostLines || byteCount >= LineConnection.turnBytes }

        mutating func begin() { (isRunning, lineCount, byteCount) = (true, 0, 0) }
    }

    package struct Handlers {
        /// Handles the next line.
        package var receive: (LineSplitter.Line) -> Void = { _ in }
        /// Called when the client has ended its side, and all output was sent. Returns whether the connection stays
        /// open for events.
        package var staysAfterEnd: () -> Bool = { false }
        /// Called when the client has disconnected while an answer is pending. The client will not read this answer.
        package var hungUp: () -> Void = {}
        /// Called once, when the connection is closed.
        package var closed: () -> Void = {}
    }

    private let loop: EventLoop
    private var socket: StreamSocket?
    private var input: LineSplitter
    /// Called when the client has read enough.
    private var whenThereIsRoom: (() -> Void)?
    private var hasEnded = false
    private var output = WaitingOutput()
    private var watched: Readiness?
    private var turn = Turn()

    /// Set them before `start`.
    package var handlers = Handlers()

    /// Whether the answer to the last line is still to come.
    package private(set) var isWaiting = false

    /// - Parameter lineLimit: the longest line in bytes.
    package init(_ socket: StreamSocket, loop: EventLoop, lineLimit: Int = LineConnection.lineLimit) {
        self.socket = socket
        self.loop = loop
        input = LineSplitter(limit: lineLimit)
    }

    /// Begins to read lines.
    package func start() {
        loop.assertOnLoop()
        updateWatch()
    }

    /// Reads no lines until `resume`: the answer to the last line is not ready.
    package func wait() {
        loop.assertOnLoop()
        isWaiting = true
    }

    package func resume() {
        loop.assertOnLoop()
        isWaiting = false
        proceed()
    }

    package var isOpen: Bool { socket != nil }
    /// Whether all output was passed to the system.
    package var isDrained: Bool { output.isEmpty }

    // MARK: Output

    /// Sends a line. The part that does not fit into the system's buffer is sent later.
    /// - Parameter line: the line with its line end.
    /// - Returns: false when too much output is waiting: the line is not sent.
    @discardableResult
    package func send(_ line: [UInt8]) -> Bool {
        loop.assertOnLoop()
        guard isOpen else { return true }
        guard output.count + line.count <= Self.outputLimit || isDrained else { return false }
        if turn.isRunning { turn.byteCount += line.count }
        output.append(line)
        flush()
        if !turn.isRunning { updateWatch() }
        return true
    }

    /// Whether the client has read enough for more output.
    package var hasRoom: Bool { output.count <= Self.pauseLimit }

    /// Calls `action` once the client has read enough of its output: at once, or when it has. A later action replaces
    /// an earlier one. No action is called after the end of the connection.
    package func whenRoom(_ action: @escaping () -> Void) {
        loop.assertOnLoop()
        if hasRoom { return action() }
        whenThereIsRoom = action
    }

    private func flush() {
        guard let socket else { return }
        output.flush(to: socket)
    }

    // MARK: Input

    private var mayTakeLines: Bool { isOpen && !isWaiting && output.count <= Self.pauseLimit }

    private func handle(_ readiness: Readiness) {
        if readiness.contains(.writable) || readiness.contains(.error) { flush() }
        if readiness.contains(.hangUp), !output.isEmpty { flush() }
        if output.count <= Self.pauseLimit, let action = whenThereIsRoom {
            whenThereIsRoom = nil
            action()
        }
        if !readiness.isDisjoint(with: [.readable, .hangUp, .error]), mayTakeLines, !turn.hasMore { read() }
        if !turn.hasMore { proceed() }
        // All lines are read and answered, and the client has disconnected: no event can follow.
        if readiness.contains(.hangUp), isOpen, hasEnded, !isWaiting, !turn.hasMore { close() }
        if readiness.contains(.hangUp), isOpen, isWaiting || turn.hasMore {
            unwatch()
            handlers.hungUp()
        }
    }

    private func read() {
        guard let socket, !hasEnded else { return }
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { buffer in
            do throws(SystemError) {
                guard let count = try socket.receive(into: buffer) else { return }
                hasEnded = count == 0
                input.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            } catch {
                hasEnded = true
            }
        }
    }

    /// Delivers the complete lines, until the turn ends.
    private func proceed() {
        guard !turn.isRunning else { return }
        turn.begin()
        while !turn.isOver, mayTakeLines, let line = nextLine() {
            turn.byteCount += line.count
            handlers.receive(line)
            turn.lineCount += 1
        }
        turn.isRunning = false
        guard isOpen else { return }
        if turn.isOver { takeTurns() }
        if hasEnded, !turn.hasMore, mayTakeLines, isDrained, !handlers.staysAfterEnd() { return close() }
        updateWatch()
    }

    private func nextLine() -> LineSplitter.Line? { input.next() ?? (hasEnded ? input.finish() : nil) }

    private func takeTurns() {
        guard !turn.hasMore else { return }
        turn.hasMore = true
        // Safe: the loop's thread posts it to itself.
        nonisolated(unsafe) let connection = self
        loop.post {
            connection.turn.hasMore = false
            connection.proceed()
        }
    }

    // MARK: The descriptor

    private func updateWatch() {
        guard let socket else { return }
        var wanted: Readiness = []
        if mayTakeLines, !turn.hasMore, !hasEnded { wanted.insert(.readable) }
        if !output.isEmpty { wanted.insert(.writable) }
        guard wanted != watched else { return }
        do throws(SystemError) {
            try loop.watch(socket.descriptor, for: wanted) { [self] in handle($0) }
            watched = wanted
        } catch {
            Log.error("a control connection cannot be watched: \(error.description)")
            close()
        }
    }

    private func unwatch() {
        guard let socket, watched != nil else { return }
        loop.unwatch(socket.descriptor)
        watched = nil
    }

    /// Ends the connection at once. Idempotent.
    package func close() {
        loop.assertOnLoop()
        guard isOpen else { return }
        unwatch()
        socket = nil
        output.removeAll()
        handlers.closed()
        handlers = Handlers()
        whenThereIsRoom = nil
    }
}
