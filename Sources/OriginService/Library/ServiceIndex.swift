import Database
import Library

/// The index of the origin: that of the library, with tables of its own for the service.
extension MusicIndex {
    /// Opens the index in a folder, and creates missing parts.
    convenience init(in folder: String) throws(DatabaseError) {
        try self.init("\(folder)/index.db", modules: [OriginIndex.formerSchema, Self.schema, Self.serviceSchema])
    }

    /// The service's own tables. The numbers of tracks stay, because the rows of former versions are taken over. Their
    /// files are read again.
    private static let serviceSchema = SchemaModule(
        "origin-service",
        [
            Migration(
                1,
                """
                \(OriginIndex.unmeasured)
                CREATE TABLE segments (
                    track INTEGER PRIMARY KEY \(OriginIndex.track),
                    version TEXT NOT NULL,
                    content BLOB NOT NULL
                );
                \(OriginIndex.takeover)
                """)
        ])
}
