import Platform

/// The files of one database by name, and the operations on them while no connection is open.
///
/// Thread: any that may block on the medium.
struct DatabaseFiles {
    let path: String

    private static let besides = ["-wal", "-shm"]
    /// The name of the file without its folder.
    var name: String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
        return String(path[path.utf8.index(after: slash)...])
    }
    /// The path of a new database that is being filled. It is ignored and removed after a crash.
    var unfinished: String { path + ".unfinished" }
    /// The path of a new database that is complete, and will replace the damaged one.
    var recovered: String { path + ".recovered" }
    /// The path of a copy of the damaged database, for reading.
    var copy: String { path + ".copy" }

    init(_ path: String) { self.path = path }

    /// Whether there is a database or its log.
    var exist: Bool { FileKind(at: path) != nil || FileKind(at: path + "-wal") != nil }

    /// Removes a database whose contents are not needed, with its other files.
    func remove(_ path: String) throws(SystemError) {
        // A crash here leaves a log without its database. The next start removes it.
        for file in [path] + Self.besides.map({ path + $0 }) { try Folder.removeFile(file) }
    }

    /// Removes the files that an interrupted start has left.
    func removeLeftovers() throws(SystemError) {
        for name in [unfinished, copy] where Self.hasAny(of: name) { try remove(name) }
    }

    /// Whether there is any file of the database.
    var hasAny: Bool { Self.hasAny(of: path) || Self.hasAny(of: copy) }

    private static func hasAny(of path: String) -> Bool {
        ([path] + besides.map { path + $0 }).contains { FileKind(at: $0) != nil }
    }

    /// Copies the database and its log to another path, byte for byte. Not durable.
    func copy(to target: String) throws(SystemError) {
        for suffix in ["", "-wal"] where FileKind(at: path + suffix) == .file {
            let source = try File(reading: path + suffix)
            let copy = try File(creating: target + suffix, mode: 0o600)
            let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 8)
            defer { chunk.deallocate() }
            var offset: Int64 = 0
            while true {
                let count = try source.read(into: chunk, at: offset)
                if count == 0 { break }
                try copy.write(UnsafeRawBufferPointer(rebasing: chunk[..<count]), at: offset)
                offset += Int64(count)
            }
        }
    }

    /// Renames the database to `PATH.REASON-N`, with an unused number, so that nothing is overwritten.
    /// - Returns: the new name.
    func putAside(_ reason: String) throws(SystemError) -> String {
        var number = 1
        func name() -> String { "\(path).\(reason)-\(number)" }
        func isTaken() -> Bool { FileKind(at: name()) != nil || FileKind(at: name() + "-wal") != nil }
        while isTaken() { number += 1 }
        // A crash between the two renames: the log is still under the old name, without its database. It belongs to the
        // file that was renamed last.
        if FileKind(at: path) == nil, number > 1 { number -= 1 }
        for suffix in ["", "-wal"] where FileKind(at: path + suffix) != nil {
            try Folder.renameFile(path + suffix, to: name() + suffix)
        }
        // The `-shm` file is only an index of the log.
        try Folder.removeFile(path + "-shm")
        return name()
    }

    /// Replaces the damaged database by the recovered one.
    /// - Returns: the new path of the damaged one; nil when it was put aside earlier.
    func swap() throws(SystemError) -> String? {
        // A crash here: `recovered` keeps its name, and the next start repeats this.
        let aside = exist ? try putAside("damaged") : nil
        try Folder.renameFile(recovered, to: path)
        // A crash here: the replacement is complete.
        return aside
    }
}
