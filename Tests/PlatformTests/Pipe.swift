import CLinux
import Platform
import TestSupport

/// A pipe(2) for tests to write to and read from.
// @unchecked: the descriptors are the kernel's; only the test's thread closes them.
final class Pipe: @unchecked Sendable {
    let output: Int32
    private(set) var input: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw SystemError.last("pipe") }
        (output, input) = (ends[0], ends[1])
    }

    deinit {
        close(output)
        closeInput()
    }

    func closeInput() {
        if input >= 0 { close(input) }
        input = -1
    }

    func write(_ text: String) { _ = CLinux.write(input, text, text.utf8.count) }

    /// The available bytes, up to 64 KiB; waits for some. Empty when none come in time.
    func read() -> String {
        guard isReadable(output, milliseconds: -1) else { return "" }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = CLinux.read(output, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
    }
}

/// Waits until the descriptor is readable; less than 0 milliseconds means the limit of all waits.
func isReadable(_ descriptor: Int32, milliseconds: Int32) -> Bool {
    var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&waited, 1, milliseconds < 0 ? Deadline().milliseconds : milliseconds) == 1
}
