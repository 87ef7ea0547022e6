import PictureService

import CLinux

/// tonearm-pictures: makes thumbnails for the daemon, which starts it with a socket as stdin.
@main
struct PictureProgram {
    static func main() {
        guard let sandbox = Sandbox.enter() else { end("it could not limit itself", code: 1) }
        if !sandbox.filtersCalls { say("the kernel does not filter its system calls") }
        let end = PictureService(connection: STDIN_FILENO, memory: sandbox.memory).run()
        if end == .refused { Self.end("stdin has no request; tonearm starts this program", code: 2) }
        // Nothing is left to do, and a sanitizer's work at exit needs calls that are refused.
        _exit(0)
    }

    private static func end(_ message: StaticString, code: Int32) -> Never {
        say(message)
        _exit(code)
    }

    private static func say(_ message: StaticString) {
        for part: StaticString in ["tonearm-pictures: ", message, "\n"] {
            _ = write(STDERR_FILENO, part.utf8Start, part.utf8CodeUnitCount)
        }
    }
}
