import Platform

extension Database {
    /// A log that reaches this number of frames is moved into the file, and begins anew in its place.
    static let logFrames = 64

    /// Keeps the log short, and gives its file its whole length at once. A commit that makes a file longer costs the
    /// file system's journal as well: on a memory card 28 KB and two flushes instead of 8 KB and one. SQLite takes
    /// zeros for the end of the log, as `WriteAheadLog` does. Done once for a connection.
    func reserveLog() throws(DatabaseError) {
        guard !isLogReserved else { return }
        isLogReserved = true
        try execute("PRAGMA wal_autocheckpoint=\(Self.logFrames)")
        var statement = try prepare("PRAGMA page_size")
        let pageSize = try statement.step() ? Int(statement.integer(0) ?? 4096) : 4096
        // The last transaction before the log begins anew may go beyond the limit.
        let length = WriteAheadLog.length(ofFrames: Self.logFrames * 5 / 4, pageSize: pageSize)
        // Runs in a transaction, so that no other process continues the log meanwhile.
        try transaction { () throws(DatabaseError) in
            do throws(SystemError) { try fill(upTo: length) } catch {
                // A full medium: each commit makes the log longer, while there is room.
            }
        }
    }

    private func fill(upTo length: Int64) throws(SystemError) {
        let file = try File(updatingExisting: path + "-wal")
        var end = try file.length()
        let zeros = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 1)
        defer { zeros.deallocate() }
        zeros.initializeMemory(as: UInt8.self, repeating: 0)
        while end < length {
            let count = Int(min(Int64(zeros.count), length - end))
            try file.write(UnsafeRawBufferPointer(rebasing: zeros[..<count]), at: end)
            end += Int64(count)
        }
    }
}
