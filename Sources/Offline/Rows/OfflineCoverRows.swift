import Database
import Playback

/// The covers of offline copies. Products with one picture share its file, whose name is the picture's digest.
extension OfflineRows {
    /// A picture, and the size of its file in bytes.
    struct Cover: Equatable, Sendable {
        var content: [UInt8]
        var count: Int64
    }

    /// - Returns: nil without a cover, and for a damaged row.
    func cover(of product: ServiceAddress) throws(DatabaseError) -> Cover? {
        var statement = try database.prepare("SELECT content, count FROM offline_cover WHERE product = ?")
        try statement.bind([.text(product.text)])
        guard try statement.step(), let content = statement.bytes(0), content.count == 16,
            let count = statement.integer(1)
        else { return nil }
        return Cover(content: content, count: count)
    }

    /// Gives a copy its cover.
    /// - Returns: the files to remove; nil when there is no such copy any more.
    func setCover(_ cover: Cover, of product: ServiceAddress) throws(DatabaseError) -> [[UInt8]]? {
        guard try stored(product) != nil else { return nil }
        let former = try removeCover(of: product)
        try addBytes(try isUsed(cover.content) ? 0 : OfflineSize.counted(cover.count))
        try database.execute(
            "INSERT INTO offline_cover VALUES (?, ?, ?)", .text(product.text), .bytes(cover.content),
            .integer(cover.count))
        return [former].compactMap { $0 }.filter { $0 != cover.content }
    }

    /// - Returns: the file to remove, if no other copy has the picture.
    func removeCover(of product: ServiceAddress) throws(DatabaseError) -> [UInt8]? {
        let former = try cover(of: product)
        // This also removes a row that cannot be read.
        try database.execute("DELETE FROM offline_cover WHERE product = ?", .text(product.text))
        guard let former, try !isUsed(former.content) else { return nil }
        try addBytes(-OfflineSize.counted(former.count))
        return former.content
    }

    private func isUsed(_ content: [UInt8]) throws(DatabaseError) -> Bool {
        var statement = try database.prepare("SELECT 1 FROM offline_cover WHERE content = ?")
        try statement.bind([.bytes(content)])
        return try statement.step()
    }

    /// Returns the pictures whose file names begin with this byte.
    func covers(beginningWith byte: UInt8) throws(DatabaseError) -> [[UInt8]] {
        var statement = try database.prepare(OfflineQueries.covers)
        try statement.bind([.bytes([byte]), .bytes(Self.end(of: byte))])
        var contents: [[UInt8]] = []
        while try statement.step() { if let content = statement.bytes(0) { contents.append(content) } }
        return contents
    }

    /// Returns all pictures.
    func coverContents() throws(DatabaseError) -> [[UInt8]] {
        var statement = try database.prepare("SELECT DISTINCT content FROM offline_cover")
        var contents: [[UInt8]] = []
        while try statement.step() {
            if let content = statement.bytes(0), content.count == 16 { contents.append(content) }
        }
        return contents
    }

    /// Removes the covers of copies that are gone: a recovered database may have lost some.
    func removeStrayCovers() throws(DatabaseError) {
        try database.execute("DELETE FROM offline_cover WHERE product NOT IN (SELECT product FROM offline_item)")
    }
}
