import CLinux
import Platform
import Player

/// The paths of a command line for the daemon: absolute, and divided to fit into lines of its protocol.
struct MusicPaths {
    private(set) var absolute: [String] = []
    /// Why the first missing path cannot be used, for the user; nil when none is missing. The daemon checks the
    /// existing paths, because it may read files that this user may not.
    private(set) var problem: String?

    /// The limit of the products in one request, which may have 64 KiB in all.
    private static let batchBytes = 32 << 10

    init(_ paths: [String]) throws(UsageError) {
        if let empty = paths.firstIndex(where: { $0.isEmpty }) {
            throw UsageError("path number \(empty + 1) is empty.")
        }
        for path in paths { try add(path) }
    }

    private mutating func add(_ path: String) throws(UsageError) {
        if ServiceAddress.isMeant(by: path) || WebFileAddress.isMeant(by: path) { return absolute.append(path) }
        let (file, rest) = Self.parts(of: path)
        do throws(SystemError) {
            // The path is stored without links and dots, so that the queue shows the files' own paths.
            absolute.append(try Folder.resolved(file) + rest)
        } catch {
            switch error.code {
            case ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG: report(path, error.reason)
            default: break
            }
            absolute.append(try Self.withFolder(path))
        }
    }

    /// Divides a path into a file and the rest after it. The rest is a track of a cue sheet, or a slash for all tracks
    /// of the sheet inside the file.
    private static func parts(of path: String) -> (file: String, rest: String) {
        let bytes = Array(path.utf8)
        func divided(after count: Int) -> (file: String, rest: String) {
            (String(decoding: bytes[..<count], as: UTF8.self), String(decoding: bytes[count...], as: UTF8.self))
        }
        if let track = SheetTrack(path) { return divided(after: track.sheet.utf8.count) }
        guard let last = bytes.lastIndex(where: { $0 != UInt8(ascii: "/") }), last < bytes.count - 1 else {
            return (path, "")
        }
        let parts = divided(after: last + 1)
        return FileKind(at: parts.file) == .file ? parts : (path, "")
    }

    private mutating func report(_ path: String, _ reason: String) {
        if problem == nil { problem = "\(path): \(reason)" }
    }

    private static func withFolder(_ path: String) throws(UsageError) -> String {
        if path.utf8.first == UInt8(ascii: "/") { return path }
        do throws(SystemError) { return "\(try Folder.resolved("."))/\(path)" } catch {
            throw UsageError("\(path): the current folder is gone.")
        }
    }

    /// The paths in order, in batches that fit into one request each.
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
