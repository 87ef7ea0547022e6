import Database
import Platform

/// The index of music folders in SQLite (docs/decisions/library.md). It is a cache: a scan restores a lost or damaged
/// file.
///
/// Thread: any. Reading and writing have a connection each, so that a scan does not delay a search.
/// `@unchecked Sendable` is safe because `reading` and `writing` guard the two connections.
package final class MusicIndex: @unchecked Sendable {
    package let path: String
    private let reading = Lock()
    private let reader: Database
    private let writing = Lock()
    private let writer: Database

    /// Opens the index, and creates missing parts.
    /// - Parameter modules: all modules with tables in the file, with `schema` among them.
    package init(_ path: String, modules: [SchemaModule] = [MusicIndex.schema]) throws(DatabaseError) {
        self.path = path
        writer = try Database(path: path)
        try writer.migrate(modules)
        reader = try Database(path: path)
    }

    /// Runs `body` on one state of the index.
    package func read<Result>(_ body: (IndexReader) throws(DatabaseError) -> Result) throws(DatabaseError) -> Result {
        try readTables { (database) throws(DatabaseError) in try body(IndexReader(database)) }
    }

    /// Runs `body` on one state of the file, for a module that has its own tables in it.
    package func readTables<Result>(
        _ body: (Database) throws(DatabaseError) -> Result
    ) throws(DatabaseError) -> Result {
        try reading.withLock { () throws(DatabaseError) in
            try reader.snapshot { () throws(DatabaseError) in try body(reader) }
        }
    }

    /// Runs `body` as one transaction. A power cut leaves all of it or nothing. Other modules write only their own
    /// tables.
    package func write<Result>(_ body: (Database) throws(DatabaseError) -> Result) throws(DatabaseError) -> Result {
        try writing.withLock { () throws(DatabaseError) in
            try writer.transaction { () throws(DatabaseError) in try body(writer) }
        }
    }

    /// Removes the file of an index that is damaged, or was written by a newer version.
    package static func remove(_ path: String) throws(SystemError) {
        for ending in ["", "-wal", "-shm"] { try Folder.removeFile(path + ending) }
    }
}

extension DatabaseValue {
    package init(_ value: Int64?) { self = value.map { .integer($0) } ?? .null }
    package init(_ value: Int?) { self = value.map { .integer(Int64($0)) } ?? .null }
    package init(_ value: Double?) { self = value.map { .real($0) } ?? .null }
    package init(_ value: String?) { self = value.map { .text($0) } ?? .null }
}
