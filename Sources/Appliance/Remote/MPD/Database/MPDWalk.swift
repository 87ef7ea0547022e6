import Database
import Platform

/// Songs by their numbers in the index, with their folders: one bit each.
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

/// The songs of folders in MPD's order: those of a folder, then those of the folders in it.
///
/// Only the numbers of the folders, and of the songs of one folder, are in memory.
struct MPDWalk {
    private let folders: [Int64]
    private var nextFolder = 0
    private var songs: [Int64] = []
    private var nextSong = 0
    /// nil for all songs.
    private let candidates: MPDCandidates?

    /// - Parameter folders: with their contents, in order.
    init(_ folders: [Int64], _ candidates: MPDCandidates? = nil) {
        self.folders = folders
        self.candidates = candidates
    }

    /// A walk through songs in an order of their own.
    init(songs: [Int64]) {
        self.init([])
        self.songs = songs
    }

    mutating func next(_ reader: inout MPDReader) throws(DatabaseError) -> Int64? {
        while true {
            while nextSong < songs.count {
                let song = songs[nextSong]
                nextSong += 1
                if candidates?.contains(song) ?? true { return song }
            }
            guard nextFolder < folders.count else { return nil }
            let folder = folders[nextFolder]
            nextFolder += 1
            guard candidates?.hasAny(in: folder) ?? true else { continue }
            let found = try reader.songs(inFolder: folder)
            (songs, nextSong) = (found.files + found.sheets, 0)
        }
    }
}

/// The lines of `listall`: songs, playlists and folders, in MPD's order.
struct MPDTree {
    enum Entry {
        /// By the URI.
        case folder([UInt8], modified: Int64?)
        case playlist([UInt8], modified: Int64)
        case song(Int64)
    }

    private let folders: [Int64]
    private var nextFolder = 0
    private var entries: [Entry] = []
    private var nextEntry = 0
    /// The URI of the folder whose entries these are, or the one below which they are.
    private var last: [UInt8]
    private let isFull: Bool

    /// - Parameters:
    ///   - base: the URI of the folder that is listed.
    ///   - isFull: whether folders have a time.
    init(_ folders: [Int64], below base: [UInt8], isFull: Bool) {
        self.folders = folders
        self.isFull = isFull
        // Folders above it are not listed.
        last = Array(base.prefix(upTo: base.lastIndex(of: UInt8(ascii: "/")) ?? 0))
    }

    mutating func next(_ reader: inout MPDReader) throws(DatabaseError) -> Entry? {
        while nextEntry == entries.count {
            guard nextFolder < folders.count else { return nil }
            (entries, nextEntry) = ([], 0)
            try load(folders[nextFolder], &reader)
            nextFolder += 1
        }
        nextEntry += 1
        return entries[nextEntry - 1]
    }

    private mutating func load(_ folder: Int64, _ reader: inout MPDReader) throws(DatabaseError) {
        let songs = try reader.songs(inFolder: folder)
        let playlists = try reader.playlists(inFolder: folder)
        guard !songs.files.isEmpty || !songs.sheets.isEmpty || !playlists.isEmpty,
            let uri = try reader.uri(ofFolder: folder)
        else { return }
        let path = isFull ? try reader.path(ofFolder: folder) : nil
        appendFolders(upTo: uri, path)
        for song in songs.files { entries.append(.song(song)) }
        let prefix = uri.isEmpty ? [] : uri + [UInt8(ascii: "/")]
        let sheets = songs.sheets.isEmpty ? [] : try reader.sheets(inFolder: folder)
        for other in sheets + playlists {
            entries.append(.playlist(prefix + Array(other.file.utf8), modified: other.modified))
        }
        for sheet in sheets {
            entries.append(.folder(prefix + Array(sheet.file.utf8), modified: sheet.modified))
            for song in try reader.songs(ofSheet: sheet.file, in: folder) { entries.append(.song(song)) }
        }
        last = uri
    }

    /// Adds the folder, and those above it that have not been listed.
    private mutating func appendFolders(upTo uri: [UInt8], _ path: String?) {
        if uri.isEmpty { return }
        let slash = UInt8(ascii: "/")
        for end in uri.indices.filter({ uri[$0] == slash }) + [uri.count] {
            let parent = uri[..<end]
            let isListed = last.starts(with: parent) && (last.count == end || last[end] == slash)
            if isListed || end == 0 { continue }
            // A folder above is as many bytes shorter in its path.
            let modified = path.flatMap { Folder.modified(Self.path($0, without: uri.count - end)) }
            entries.append(.folder(Array(parent), modified: modified))
        }
    }

    private static func path(_ path: String, without count: Int) -> String {
        String(decoding: path.utf8.dropLast(count), as: UTF8.self)
    }
}
