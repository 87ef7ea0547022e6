import CLinux
import PictureService

/// For the tests of tonearm-pictures: enters its sandbox, and tries calls that it forbids or limits.
///
/// Prints a line for each: its name, and errno or 0.
@main
struct SandboxCheck {
    static func main() {
        let parent = getppid()
        guard let sandbox = Sandbox.enter() else { _exit(1) }
        show("filter", sandbox.filtersCalls ? 1 : 0)
        attempt("open") { tonearm_open("/dev/null", O_RDONLY, 0) }
        attempt("socket") { socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) }
        attempt("kill") { kill(parent, 0) }
        attempt("duplicate") { dup(STDOUT_FILENO) }
        attempt("execute") { execve("/bin/true", [nil], [nil]) }
        var running: Int32 = -1
        show("fork", tonearm_run_command("true", &running))
        attempt("map executable memory") { map(PROT_READ | PROT_EXEC, 4096) }
        attempt("map more than the limit") { map(PROT_READ | PROT_WRITE, 64 << 20) }
        attempt("map memory") { map(PROT_READ | PROT_WRITE, 8 << 20) }
        _exit(0)
    }

    private static func map(_ protection: Int32, _ size: Int) -> Int32 {
        mmap(nil, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == UnsafeMutableRawPointer(bitPattern: -1)
            ? -1 : 0
    }

    private static func attempt(_ name: String, _ call: () -> Int32) {
        let result = call()
        show(name, result < 0 ? tonearm_errno() : 0)
    }

    private static func show(_ name: String, _ value: Int32) {
        let line = Array("\(name): \(value)\n".utf8)
        _ = write(STDOUT_FILENO, line, line.count)
    }
}
