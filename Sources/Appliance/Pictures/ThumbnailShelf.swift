import Platform

/// The thumbnails in a folder, and the order in which they are removed. It only decides; its owner writes and removes
/// files.
///
///     var shelf = ThumbnailShelf(limit: 32_000_000)
///     let removed = shelf.add(entry)     // the files to remove: those that were used least recently
struct ThumbnailShelf {
    /// A thumbnail in its file. The name of the file contains all values, so that the folder is its own index.
    struct Entry: Equatable {
        let key: ThumbnailKey
        let width: Int
        let height: Int
        let bytes: Int
        let check: UInt32

        init(_ key: ThumbnailKey, _ thumbnail: Thumbnail) {
            self.key = key
            (width, height) = (thumbnail.width, thumbnail.height)
            (bytes, check) = (thumbnail.bytes.count, thumbnail.check)
        }

        /// Reads the name of a file; nil for any other name.
        init?(name: String) {
            let parts = name.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
            let numbers = parts.dropFirst().compactMap { Int64(Substring($0)) }
            guard numbers.count == 5, parts.count == 6,
                let picture = PictureIdentity(text: String(Substring(parts[0]))),
                numbers[0...3].allSatisfy({ 0...Int64(Thumbnail.mostBytes) ~= $0 }),
                let check = UInt32(exactly: numbers[4])
            else { return nil }
            key = ThumbnailKey(picture: picture, side: Int(numbers[0]))
            (width, height, bytes) = (Int(numbers[1]), Int(numbers[2]), Int(numbers[3]))
            self.check = check
            // Each entry has only one valid name.
            guard ThumbnailKey.sides.contains(key.side), name.utf8.elementsEqual(self.name.utf8) else { return nil }
        }

        var name: String { "\(key.picture.text)-\(key.side)-\(width)-\(height)-\(bytes)-\(check)" }

        /// The bytes that the file uses on the medium, in whole blocks of 4 KiB.
        var cost: Int64 { (Int64(bytes) + 4095) / 4096 * 4096 }
    }

    /// The maximum number of bytes on the medium.
    let limit: Int64
    private(set) var total: Int64 = 0
    private var entries: [(entry: Entry, used: Int64)] = []
    private var uses: Int64 = 0

    init(limit: Int64) { self.limit = limit }

    /// All entries, the least recently used first.
    var all: [Entry] { entries.sorted { $0.used < $1.used }.map { $0.entry } }

    /// Returns a thumbnail, and makes it the most recently used one.
    mutating func use(_ key: ThumbnailKey) -> Entry? {
        guard let index = index(of: key) else { return nil }
        uses += 1
        entries[index].used = uses
        return entries[index].entry
    }

    /// Adds a thumbnail as the most recently used one.
    /// - Returns: the entries to remove: a former one of the same picture, and others to make room.
    mutating func add(_ entry: Entry) -> [Entry] {
        var removed: [Entry] = []
        if let former = remove(entry.key), former != entry { removed.append(former) }
        guard entry.cost <= limit else { return removed + [entry] }
        while total + entry.cost > limit, let first = entries.indices.min(by: { entries[$0].used < entries[$1].used }) {
            removed.append(remove(at: first))
        }
        uses += 1
        entries.append((entry, uses))
        total += entry.cost
        return removed
    }

    /// Forgets a thumbnail.
    @discardableResult
    mutating func remove(_ key: ThumbnailKey) -> Entry? { index(of: key).map { remove(at: $0) } }

    private func index(of key: ThumbnailKey) -> Int? { entries.firstIndex { $0.entry.key == key } }

    private mutating func remove(at index: Int) -> Entry {
        entries.swapAt(index, entries.count - 1)
        let removed = entries.removeLast().entry
        total -= removed.cost
        return removed
    }
}
