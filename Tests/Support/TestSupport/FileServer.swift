import Foundation

/// A web server with files, on the loopback interface. It ends with this object.
public final class FileServer: Sendable {
    /// How it answers.
    public enum Manner: String, Sendable, CaseIterable {
        /// Ranges, and lengths.
        case ranges
        /// The whole file for each request.
        case whole
        /// The whole file for each request, without its length: it ends with the connection.
        case withoutLength
    }

    /// Answers a request otherwise.
    /// - Parameter number: of the request, from 0.
    /// - Returns: false for the usual answer.
    public typealias Special = @Sendable (_ head: String, _ number: Int, ScriptedConnection) -> Bool

    /// The heads of all requests.
    public let requests = Recorder<String>()
    private let server: ScriptedServer

    /// - Parameter files: by their paths, which begin with a slash.
    public init(
        _ files: [String: [UInt8]], _ manner: Manner = .ranges, special: @escaping Special = { _, _, _ in false }
    ) {
        server = ScriptedServer { [requests] connection in
            while let head = connection.request() {
                let number = requests.elements.count
                requests.record(head)
                if special(head, number, connection) { continue }
                guard let file = files[Self.path(of: head)] else {
                    connection.send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                    continue
                }
                if !Self.send(file, manner, Self.range(of: head), connection) { return }
            }
        }
    }

    public func url(_ path: String, scheme: String = "http") -> String { server.url(path, scheme: scheme) }
    public var connectionCount: Int { server.connectionCount }

    /// The first bytes of the requested ranges; nil for a request without a range.
    public var rangeStarts: [Int?] { requests.elements.map { Self.range(of: $0)?.lowerBound } }

    public static func path(of head: String) -> String { String(head.split(separator: " ")[1]) }

    private static func range(of head: String) -> Range<Int>? {
        guard let line = head.split(separator: "\r\n").first(where: { $0.lowercased().hasPrefix("range: bytes=") })
        else { return nil }
        let ends = line.dropFirst("range: bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
        guard let start = Int(ends[0]) else { return nil }
        return start..<(Int(ends[1]).map { $0 + 1 } ?? .max)
    }

    /// - Returns: whether the connection stays open.
    private static func send(
        _ file: [UInt8], _ manner: Manner, _ range: Range<Int>?, _ connection: ScriptedConnection
    ) -> Bool {
        switch manner {
        case .withoutLength:
            connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
            connection.send(file)
            return false
        case .ranges:
            if let range {
                guard range.lowerBound < file.count else {
                    connection.send(
                        "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Range: bytes */\(file.count)\r\n"
                            + "Content-Length: 0\r\n\r\n")
                    return true
                }
                let part = file[range.clamped(to: 0..<file.count)]
                connection.send(
                    "HTTP/1.1 206 Partial Content\r\nContent-Length: \(part.count)\r\n"
                        + "Content-Range: bytes \(part.startIndex)-\(part.endIndex - 1)/\(file.count)\r\n\r\n")
                return connection.send(Array(part))
            }
            fallthrough
        case .whole:
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(file.count)\r\n\r\n")
            return connection.send(file)
        }
    }
}
