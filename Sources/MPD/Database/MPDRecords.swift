import Appliance
import CLinux

/// Keys with numbers, for sorting or counting: the values of `list` and `count`, and the songs of `sort`.
///
/// The keys are in one run of bytes. Equal keys are merged from time to time, so the memory depends on the number of
/// different keys.
struct MPDRecords {
    struct Entry {
        fileprivate var offset: Int
        fileprivate var count: Int
        /// The number of a song in the index, or the number of songs.
        var number: Int64
        var milliseconds: Int64
    }

    private(set) var entries: [Entry] = []
    private var bytes: [UInt8] = []
    private let isDescending: Bool
    /// Whether equal keys become one.
    private let merges: Bool
    /// The maximum number of entries that are requested.
    private let limit: Int
    /// The number of entries at which they are merged or cut to `limit`.
    private var fullCount = MPDRecords.leastFull

    private static let leastFull = 4096
    /// A byte after each key, so that empty keys have different offsets, too.
    private static let end: UInt8 = 0

    init(isDescending: Bool = false, merges: Bool, limit: Int = .max) {
        self.isDescending = isDescending
        self.merges = merges
        self.limit = limit
    }

    mutating func append(_ key: [UInt8], number: Int64 = 1, milliseconds: Int64 = 0) {
        entries.append(Entry(offset: bytes.count, count: key.count, number: number, milliseconds: milliseconds))
        bytes += key
        bytes.append(Self.end)
        guard entries.count >= fullCount, merges || limit < fullCount / 2 else { return }
        finish()
        fullCount = max(Self.leastFull, entries.count * 2)
    }

    func key(_ place: Int) -> ArraySlice<UInt8> {
        let entry = entries[place]
        return bytes[entry.offset..<(entry.offset + entry.count)]
    }

    /// Sorts the keys by their bytes. Equal keys stay in their order, or are merged.
    mutating func finish() {
        let isDescending = isDescending
        bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            entries.sort { one, other in
                let order = memcmp(base + one.offset, base + other.offset, min(one.count, other.count))
                let difference = order == 0 ? one.count - other.count : Int(order)
                if difference == 0 { return one.offset < other.offset }
                return isDescending ? difference > 0 : difference < 0
            }
        }
        var kept: [Entry] = []
        var keptBytes: [UInt8] = []
        for place in entries.indices {
            let key = key(place)
            if merges, let last = kept.last, keptBytes[last.offset...].dropLast().elementsEqual(key) {
                kept[kept.count - 1].number += entries[place].number
                // A damaged file may have any duration.
                kept[kept.count - 1].milliseconds &+= entries[place].milliseconds
                continue
            }
            if kept.count == limit { break }
            var entry = entries[place]
            entry.offset = keptBytes.count
            keptBytes += key
            keptBytes.append(Self.end)
            kept.append(entry)
        }
        (entries, bytes) = (kept, keptBytes)
    }
}
