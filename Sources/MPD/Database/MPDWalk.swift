import Appliance
import Database
import Library
import Platform

/// Sets of songs and folders by their numbers in the index, with one bit each.
struct MPDCandidates {
    private var songs = NumberSet()
    private var folders = NumberSet()

    mutating func insert(_ song: Int64, in folder: Int64) {
        songs.insert(song)
        folders.insert(folder)
    }

    func contains(_ song: Int64) -> Bool { songs.contains(song) }
    func hasAny(in folder: Int64) -> Bool { folders.contains(folder) }

    private struct NumberSet {
        private var words: [UInt64] = []

        mutating func insert(_ number: Int64) {
            let place = Int(clamping: number >> 6)
            if place >= words.count {
                words += [UInt64](repeating: 0, count: place + 1 - words.count + words.count / 2)
            }
            words[place] |= 1 << UInt64(number & 63)
        }

        func contains(_ number: Int64) -> Bool {
            let place = Int(clamping: number >> 6)
            return place < words.count && words[place] >> UInt64(number & 63) & 1 == 1
        }
    }
}

/// The songs of folders in MPD's order: first the songs of a folder, then those of its subfolders.
///
/// Only the numbers of the folders are in memory, and also those of the songs if they have an order of their own.
struct MPDWalk {
    private var folders: ArraySlice<Int64> = []
    private var place = TrackCursor.Place()
    private var songs: ArraySlice<Int64> = []
    /// The songs that may be used; nil for all songs.
    private let candidates: MPDCandidates?

    /// - Parameter folders: the numbers of all folders, in order.
    init(_ folders: [Int64], _ candidates: MPDCandidates? = nil) {
        self.folders = folders[...]
        self.candidates = candidates
    }

    /// Makes a walk through songs in an order of their own.
    init(songs: [Int64]) {
        self.init([])
        self.songs = songs[...]
    }

    /// Calls `use` for the next songs, until it returns false.
    /// - Returns: whether more may follow.
    mutating func forEach(
        _ reader: inout MPDReader, _ use: (MPDSong) -> Bool
    ) throws(DatabaseError) -> Bool {
        var song = MPDSong(uri: "")
        while let id = songs.popFirst() {
            if try reader.read(id, into: &song), !use(song) { return true }
        }
        while let folder = folders.first {
            if candidates?.hasAny(in: folder) ?? true {
                let isEnded = try reader.forEachSong(
                    inFolder: folder, after: &place, where: { [candidates] in candidates?.contains($0) ?? true },
                    &song, use)
                if isEnded { return true }
            }
            folders.removeFirst()
            place = TrackCursor.Place()
        }
        return false
    }
}
