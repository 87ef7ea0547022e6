import Platform

/// The files of one database by name, and what is done to them while no connection is open.
///
/// Thread: any that may block on the medium.
struct DatabaseFiles {
    let path: String

    private static let besides = ["-wal", "-shm"]
    /// A new database that is being filled. Its contents count for nothing.
    var unfinished: String { path + ".unfinished" }
    /// A new database that is whole, and waits to take the place of the damaged one.
    var recovered: String { path + ".recovered" }
    /// A copy of the damaged one, to read from.
    var copy: String { path + ".copy" }

    init(_ path: String) { self.path = path }

    /// Whether there is a database, or what is left of one.
    var exist: Bool { FileKind(at: path) != nil || FileKind(at: path + "-wal") != nil }

    /// Removes a database whose contents are not needed, with the files beside it.
    func remove(_ path: String) throws(SystemError) {
        // Cut here: a log without its database, which the next start removes.
        for file in [path] + Self.besides.map({ path + $0 }) { try Folder.removeFile(file) }
    }

    /// Removes what a start that was cut short has left behind.
    func removeLeftovers() throws(SystemError) {
        for name in [unfinished, copy] where Self.hasAny(of: name) { try remove(name) }
    }

    /// Whether there is anything under the database's own names.
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

    /// Gives the database the name `PATH.REASON-N`, with a number that no file has, so that nothing is overwritten.
    /// - Returns: the new name.
    func putAside(_ reason: String) throws(SystemError) -> String {
        var number = 1
        func name() -> String { "\(path).\(reason)-\(number)" }
        func isTaken() -> Bool { FileKind(at: name()) != nil || FileKind(at: name() + "-wal") != nil }
        while isTaken() { number += 1 }
        // Cut between the two renames: the log is still under the old name, without its database. It belongs to the
        // file that went aside last.
        if FileKind(at: path) == nil, number > 1 { number -= 1 }
        for suffix in ["", "-wal"] where FileKind(at: path + suffix) != nil {
            try Folder.renameFile(path + suffix, to: name() + suffix)
        }
        // Only an index of the log.
        try Folder.removeFile(path + "-shm")
        return name()
    }

    /// Puts the recovered database in the place of the damaged one.
    /// - Returns: where the damaged one is now; nil when it was put aside before.
    func swap() throws(SystemError) -> String? {
        // Cut anywhere here: `recovered` is still there under its name, and the next start comes here again.
        let aside = exist ? try putAside("damaged") : nil
        try Folder.renameFile(recovered, to: path)
        // Cut here: done.
        return aside
    }
}
