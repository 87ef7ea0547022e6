import CLinux

/// A terminal whose keys arrive one by one, without Enter and without echo. `deinit` restores the terminal, and so does
/// a crash of the process. Ctrl-C and Ctrl-Z are still signals.
struct Terminal: ~Copyable {
    let descriptor: Int32
    private let before: termios

    /// Takes the keys of the terminal at `descriptor`.
    /// - Returns: nil when there is no terminal, or when another job uses it: changing it from the background would
    ///   stop this process.
    init?(_ descriptor: Int32) {
        var settings = termios()
        guard Self.isOurs(descriptor), tcgetattr(descriptor, &settings) == 0 else { return nil }
        before = settings
        tonearm_restore_terminal_at_crash(descriptor, &settings)
        self.descriptor = descriptor
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        withUnsafeMutableBytes(of: &settings.c_cc) { characters in
            characters[Int(VMIN)] = 1
            characters[Int(VTIME)] = 0
        }
        tcsetattr(descriptor, TCSADRAIN, &settings)
    }

    deinit {
        var settings = before
        if Self.isOurs(descriptor) { tcsetattr(descriptor, TCSADRAIN, &settings) }
        tonearm_forget_terminal()
    }

    private static func isOurs(_ descriptor: Int32) -> Bool {
        isatty(descriptor) == 1 && tcgetpgrp(descriptor) == getpgrp()
    }

    /// Returns the typed bytes. Call it when the descriptor is readable; otherwise it blocks.
    /// - Returns: nil when the terminal is closed.
    borrowing func read() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = bytes.withUnsafeMutableBytes { CLinux.read(descriptor, $0.baseAddress, $0.count) }
        if count > 0 { return Array(bytes[..<count]) }
        return count < 0 && tonearm_errno() == EINTR ? [] : nil
    }
}
