import CLinux
import Platform

/// The keys of the terminal on stdin, when there is one and the process is in its foreground.
///
/// Thread: the loop's.
final class KeyInput {
    private let loop: EventLoop
    private let receive: (Key) -> Void
    private var terminal: Terminal?
    private var decoder = KeyDecoder()

    init(loop: EventLoop, _ receive: @escaping (Key) -> Void) {
        self.loop = loop
        self.receive = receive
    }

    /// Takes the terminal, unless it is already taken or cannot be taken.
    func resume() {
        guard terminal == nil else { return }
        terminal = Terminal(STDIN_FILENO)
        guard terminal != nil else { return }
        do throws(SystemError) {
            try loop.watch(STDIN_FILENO, for: .readable) { [self] _ in readKeys() }
        } catch {
            terminal = nil
        }
    }

    /// Restores the terminal. Idempotent.
    func suspend() {
        guard terminal != nil else { return }
        loop.unwatch(STDIN_FILENO)
        terminal = nil
    }

    private func readKeys() {
        guard let bytes = terminal?.read() else {
            suspend()
            return
        }
        for key in decoder.decode(bytes) { receive(key) }
    }
}
