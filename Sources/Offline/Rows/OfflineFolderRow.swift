import Database

/// The id of the storage folder that belongs to the rows (`StorageFolder`).
extension OfflineRows {
    /// Returns nil when no folder was chosen yet.
    func folderID() throws(DatabaseError) -> String? {
        var statement = try database.prepare("SELECT name FROM offline_folder")
        return try statement.step() ? statement.text(0) : nil
    }

    func setFolderID(_ id: String) throws(DatabaseError) {
        try database.execute("INSERT OR REPLACE INTO offline_folder VALUES (1, ?)", .text(id))
    }

    /// Whether any row has a file, or had one.
    func haveContents() throws(DatabaseError) -> Bool {
        var statement = try database.prepare(
            "SELECT EXISTS (SELECT 1 FROM offline_item) OR EXISTS (SELECT 1 FROM offline_job WHERE content IS NOT NULL)"
        )
        return try statement.step() && statement.integer(0) == 1
    }

    /// Returns whether `isThere` holds for the content of any row. Reads all of them when it does not.
    func haveContent(where isThere: ([UInt8]) -> Bool) throws(DatabaseError) -> Bool {
        var statement = try database.prepare(
            "SELECT content FROM offline_item UNION ALL SELECT content FROM offline_job WHERE content IS NOT NULL")
        while try statement.step() {
            if let content = statement.bytes(0), content.count == 16, isThere(content) { return true }
        }
        return false
    }

    /// Returns whether `isThere` holds for the content and the length of any item. Reads all of them when it does not.
    func haveItem(where isThere: (_ content: [UInt8], _ count: Int64) -> Bool) throws(DatabaseError) -> Bool {
        var statement = try database.prepare("SELECT content, count FROM offline_item")
        while try statement.step() {
            if let content = statement.bytes(0), content.count == 16, let count = statement.integer(1),
                isThere(content, count)
            {
                return true
            }
        }
        return false
    }
}
