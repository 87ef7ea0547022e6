import CLinux
import Platform

/// Paths on a command line as the daemon takes them: absolute, and few enough at once for a line of its protocol.
struct MusicPaths {
    let absolute: [String]

    /// Of the products in one request, which may have 64 KiB in all.
    private static let batchBytes = 32 << 10

    init(_ paths: [String]) throws(UsageError) {
        if let empty = paths.firstIndex(where: { $0.isEmpty }) { throw UsageError("path number \(empty + 1) is empty.") }
        var absolute: [String] = []
        for path in paths { absolute.append(try Self.absolute(path)) }
        self.absolute = absolute
    }

    private static func absolute(_ path: String) throws(UsageError) -> String {
        // Without links and dots, so that the queue tells files as they are. The daemon says what does not exist.
        guard let resolved = realpath(path, nil) else {
            if path.utf8.first == UInt8(ascii: "/") { return path }
            guard let folder = realpath(".", nil) else { throw UsageError("\(path): the current folder is gone.") }
            defer { free(folder) }
            return "\(String(cString: folder))/\(path)"
        }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// The paths in order, in parts that each fit into a request.
    var batches: [ArraySlice<String>] {
        var batches: [ArraySlice<String>] = []
        var start = 0
        var bytes = 0
        for (index, path) in absolute.enumerated() {
            let length = JSONValue.string(path).serialized().utf8.count + 12
            if bytes + length > Self.batchBytes, index > start {
                batches.append(absolute[start..<index])
                (start, bytes) = (index, 0)
            }
            bytes += length
        }
        batches.append(absolute[start...])
        return batches
    }
}
