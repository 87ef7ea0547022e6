import Database
import Playback

/// The files of the rows.
extension OfflineRows {
    /// An offline copy as `ContentSweep` compares it with its file.
    struct StoredContent {
        var content: [UInt8]
        /// The product as the row names it: an address, unless the row is damaged.
        var product: String
        /// The size in bytes; negative when the row has none.
        var count: Int64
        /// False for a row with damaged values.
        var isReadable: Bool
    }

    /// Returns the offline copies whose file names begin with this byte.
    func contents(beginningWith byte: UInt8) throws(DatabaseError) -> [StoredContent] {
        var statement = try database.prepare(OfflineQueries.contents)
        try statement.bind([.bytes([byte]), .bytes(Self.end(of: byte))])
        var contents: [StoredContent] = []
        while try statement.step() {
            guard let content = statement.bytes(5) else { continue }
            contents.append(
                StoredContent(
                    content: content, product: statement.text(0) ?? "", count: statement.integer(8) ?? -1,
                    isReadable: Self.isReadable(statement)))
        }
        return contents
    }

    /// Returns the offline copies whose damaged rows name no file.
    func itemsWithoutContent() throws(DatabaseError) -> [String] {
        var statement = try database.prepare("SELECT product FROM offline_item WHERE content < x'' ORDER BY content")
        var products: [String] = []
        while try statement.step() { products.append(statement.text(0) ?? "") }
        return products
    }

    /// Returns the files of downloads whose names begin with this byte, and the recorded bytes of each.
    func unfinishedContents(
        beginningWith byte: UInt8
    ) throws(DatabaseError) -> [(content: [UInt8], number: Int64, synced: Int64)] {
        var statement = try database.prepare(OfflineQueries.unfinishedContents)
        try statement.bind([.bytes([byte]), .bytes(Self.end(of: byte))])
        var contents: [(content: [UInt8], number: Int64, synced: Int64)] = []
        while try statement.step() {
            guard let content = statement.bytes(0) else { continue }
            contents.append((content, statement.integer(1) ?? 0, statement.integer(2) ?? -1))
        }
        return contents
    }

    /// Returns a bound after all names that begin with this byte.
    static func end(of byte: UInt8) -> [UInt8] {
        byte == 255 ? [UInt8](repeating: 255, count: 17) : [byte + 1]
    }

    /// Returns the file and the size of a copy, also of a row that cannot be read.
    func stored(_ product: ServiceAddress) throws(DatabaseError) -> (content: [UInt8]?, bytes: Int64)? {
        var statement = try database.prepare("SELECT content, count FROM offline_item WHERE product = ?")
        try statement.bind([.text(product.text)])
        guard try statement.step() else { return nil }
        let content = statement.bytes(0)
        return (content?.count == 16 ? content : nil, OfflineSize.counted(statement.integer(1) ?? 0))
    }

    /// Returns the file of a download, also of a row that cannot be read.
    func part(of product: ServiceAddress) throws(DatabaseError) -> [UInt8]? {
        var statement = try database.prepare("SELECT content FROM offline_job WHERE product = ?")
        try statement.bind([.text(product.text)])
        guard try statement.step(), let content = statement.bytes(0), content.count == 16 else { return nil }
        return content
    }

    /// Resets the progress of a download whose part is not on the medium as recorded.
    /// - Returns: false when the row has changed meanwhile.
    func forgetPart(_ content: [UInt8], of number: Int64) throws(DatabaseError) -> Bool {
        try database.execute(
            "UPDATE offline_job SET content = NULL, key = NULL, fingerprint = NULL, synced = 0, parts = NULL, "
                + "percent = 0 WHERE number = ? AND content = ?", .integer(number), .bytes(content))
        return database.changedRowCount > 0
    }
}
