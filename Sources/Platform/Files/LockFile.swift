import CLinux

/// A file that only one process at a time can hold, to protect the files next to it. The kernel releases the lock when
/// the process ends in any way; the file stays.
public struct LockFile: ~Copyable, Sendable {
    /// Why the lock could not be taken.
    public enum Refusal: Error, Equatable, Sendable {
        /// Another process holds it; its number, if the file contains it.
        case held(process: Int?)
        case system(SystemError)
    }

    private let descriptor: Int32

    /// Takes the lock, and creates a missing file.
    /// - Parameter path: the path of the file, in an existing folder.
    public init(_ path: String) throws(Refusal) {
        let file = tonearm_open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        if file < 0 { throw .system(.last("open", path)) }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            let error = SystemError.last("flock", path)
            let holder = Self.process(in: file)
            close(file)
            throw error.code == EWOULDBLOCK ? .held(process: holder) : .system(error)
        }
        // The number is only for the message above: the lock also works without it.
        _ = ftruncate(file, 0)
        let number = Array("\(getpid())\n".utf8)
        _ = tonearm_pwrite(file, number, number.count, 0)
        descriptor = file
    }

    deinit {
        // Closing is not enough, because a child process has a copy of the descriptor until its exec, and would hold
        // the lock.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    private static func process(in descriptor: Int32) -> Int? {
        var bytes = [UInt8](repeating: 0, count: 20)
        let count = tonearm_pread(descriptor, &bytes, bytes.count, 0)
        let digits = bytes.prefix(max(0, count)).prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
        return Int(String(decoding: digits, as: UTF8.self))
    }
}
