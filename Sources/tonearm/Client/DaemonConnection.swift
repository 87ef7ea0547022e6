import CLinux
import Platform

/// Why a request to the daemon failed.
enum DaemonFailure: Error, Equatable {
    case notRunning(socket: String)
    case notAllowed(socket: String)
    case unreachable(SystemError)
    /// There was no connection or no answer in time.
    case silent(seconds: Int)
    /// The daemon has closed the connection.
    case gone
    /// This program does not understand the answer.
    case misunderstood
    /// The daemon has refused the request, with a reason.
    case refused(code: String, message: String)
}

extension DaemonFailure {
    var message: String {
        switch self {
        case .notRunning(let socket):
            "the daemon is not running (no socket at \(socket)). "
                + "Start it with `systemctl start tonearm` or `tonearm run`."
        case .notAllowed(let socket):
            "no permission to use the daemon's socket \(socket). "
                + "Become a member of its group (`ls -l \(socket)` shows it, usually tonearm): "
                + "`sudo adduser $USER tonearm`, then log in again; or use sudo."
        case .unreachable(let error): "the daemon cannot be reached: \(error.description)"
        case .silent(let seconds):
            "the daemon has not answered for \(seconds) seconds. Look at `systemctl status tonearm`, or restart it."
        case .gone: "the daemon has closed the connection."
        case .misunderstood: "the daemon's answer is not valid. Compare its version with that of this program."
        case .refused(_, let message): message
        }
    }

    var exitCode: Int32 {
        if case .refused = self { ExitCode.failed } else { ExitCode.daemon }
    }
}

/// A connection to the daemon, for requests one after another.
///
/// Thread: the main thread.
final class DaemonConnection {
    private static let usualPatience = 5
    private static let defaultPath = "/run/tonearm/control"

    private let socket: StreamSocket
    private var received: [UInt8] = []
    /// The index in `received` before which there is no line end.
    private var searched = 0
    private var lastID: Int64 = 0
    /// Lines of events that arrived before a reply.
    private var events: [String] = []

    /// Readable when bytes have arrived.
    var descriptor: Int32 { socket.descriptor }

    /// - Parameter path: the path of the socket; nil: the one in the environment, or the usual one.
    init(_ path: String?) throws(DaemonFailure) {
        let path = path ?? getenv("TONEARM_SOCKET").map { FileName.text(of: UnsafePointer($0)) } ?? Self.defaultPath
        do throws(SystemError) {
            socket = try StreamSocket(connectingTo: path, seconds: Self.usualPatience)
        } catch {
            switch error.code {
            // The daemon has not accepted the connection in time.
            case EAGAIN: throw .silent(seconds: Self.usualPatience)
            case ENOENT, ECONNREFUSED, ENOTDIR: throw .notRunning(socket: path)
            case EACCES, EPERM: throw .notAllowed(socket: path)
            default: throw .unreachable(error)
            }
        }
    }

    /// Sends a request and waits for the reply.
    /// - Parameter patience: the seconds to wait for the reply; nil: as long as the daemon is connected.
    /// - Returns: the line of the reply and its value.
    @discardableResult
    func ask(
        _ request: String, _ fields: [JSONValue.Member] = [], patience: Int? = usualPatience
    ) throws(DaemonFailure) -> Reply {
        lastID += 1
        let members =
            [JSONValue.Member("id", .integer(lastID)), JSONValue.Member("request", .string(request))] + fields
        try send(Array(JSONValue.object(members).serialized().utf8) + [UInt8(ascii: "\n")])
        let (line, value) = try reply(patience)
        if value["ok"]?.boolean == true { return Reply(line: line, value: value) }
        guard let error = value["error"], let code = error["code"]?.string, let message = error["message"]?.string
        else { throw .misunderstood }
        throw .refused(code: code, message: message)
    }

    struct Reply {
        let line: String
        let value: JSONValue
    }

    /// Returns the line's value.
    static func parse(_ line: String) throws(DaemonFailure) -> JSONValue {
        do throws(JSONError) { return try JSONValue.parse(line) } catch { throw .misunderstood }
    }

    /// Sends bytes. A closed connection is not an error here, because earlier replies can still be read.
    private func send(_ bytes: [UInt8]) throws(DaemonFailure) {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { tonearm_send(descriptor, $0.baseAddress! + done, $0.count - done) }
            let error = tonearm_errno()
            if count >= 0 { done += count }
            if count < 0, error == EAGAIN { throw .silent(seconds: Self.usualPatience) }
            if count < 0, error != EINTR { return }
        }
    }

    private func reply(_ patience: Int?) throws(DaemonFailure) -> (line: String, value: JSONValue) {
        while true {
            while let line = takeReceivedLine() {
                let value = try Self.parse(line)
                if value["event"] == nil { return (line, value) }
                events.append(line)
            }
            var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let count = poll(&waited, 1, patience.map { Int32($0 * 1000) } ?? -1)
            if count == 0, let patience { throw .silent(seconds: patience) }
            if count > 0 { try receive() }
        }
    }

    /// Receives the available bytes. Does not block when `descriptor` is readable.
    func receive() throws(DaemonFailure) {
        let count = withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { buffer -> Int in
            do throws(SystemError) {
                guard let count = try socket.receive(into: buffer) else { return 0 }
                received.append(contentsOf: buffer[..<count])
                return count
            } catch {
                return 0
            }
        }
        if count == 0 { throw .gone }
    }

    /// Removes and returns the next line of an event; nil when there is none.
    func takeLine() -> String? { events.isEmpty ? takeReceivedLine() : events.removeFirst() }

    private func takeReceivedLine() -> String? {
        guard let end = received[searched...].firstIndex(of: UInt8(ascii: "\n")) else {
            searched = received.count
            return nil
        }
        let line = String(decoding: received[..<end], as: UTF8.self)
        received.removeFirst(end + 1)
        searched = 0
        return line
    }
}
