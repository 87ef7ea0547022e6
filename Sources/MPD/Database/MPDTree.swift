import Appliance
import Database
import Library
import Platform

/// The lines of `listall`: songs, playlists and folders, in MPD's order.
struct MPDTree {
    private var folders: ArraySlice<Int64>
    private var heads: FolderHeads
    private let isFull: Bool
    /// The position in the first of `folders`.
    private var place = TrackCursor.Place()
    /// Whether the first of `folders` has cue sheets, as far as it was read.
    private var hasSheets = false
    /// The entries after the songs of a folder: its playlists, cue sheets, and their songs.
    private var rest: ArraySlice<Entry> = []

    private enum Entry {
        case playlist([UInt8], modified: Int64)
        case sheet([UInt8], modified: Int64)
        case song(Int64)
    }

    /// - Parameters:
    ///   - base: the URI of the folder that is listed.
    ///   - isFull: whether folders are listed with their time, and songs with all lines.
    init(_ folders: [Int64], below base: [UInt8], isFull: Bool) {
        self.folders = folders[...]
        self.isFull = isFull
        heads = FolderHeads(below: base, isFull: isFull)
    }

    /// Adds lines until a piece is full.
    /// - Returns: whether more may follow.
    mutating func fill(
        _ output: inout [UInt8], _ reader: inout MPDReader, _ tags: MPDTags
    ) throws(DatabaseError) -> Bool {
        var song = MPDSong(uri: "")
        while output.count < MPDPages.pieceSize {
            if let entry = rest.popFirst() {
                try write(entry, &song, to: &output, &reader, tags)
            } else if let folder = folders.first {
                let isFilled = try fillSongs(of: folder, &song, &output, &reader, tags)
                if isFilled { return true }
                folders.removeFirst()
                (place, hasSheets) = (TrackCursor.Place(), false)
            } else {
                return false
            }
        }
        return true
    }

    /// Adds the songs of a folder, and prepares the entries after them.
    /// - Returns: whether the piece was full before the last song.
    private mutating func fillSongs(
        of folder: Int64, _ song: inout MPDSong, _ output: inout [UInt8], _ reader: inout MPDReader, _ tags: MPDTags
    ) throws(DatabaseError) -> Bool {
        guard let uri = try reader.uri(ofFolder: folder) else { return false }
        let path = isFull ? try reader.path(ofFolder: folder) : nil
        let isFull = isFull
        let isEnded = try reader.forEachSong(inFolder: folder, after: &place, &song) { song in
            heads.append(upTo: uri, path, to: &output)
            // While a scan runs, new tracks of a sheet may come before files.
            if song.details?.part ?? 0 > 0 {
                hasSheets = true
                return true
            }
            Self.write(song, isFull, tags, to: &output)
            return output.count < MPDPages.pieceSize
        }
        if isEnded { return true }
        let sheets = hasSheets ? try reader.sheets(inFolder: folder) : []
        let playlists = try reader.playlists(inFolder: folder)
        if !playlists.isEmpty { heads.append(upTo: uri, path, to: &output) }
        let prefix = uri.isEmpty ? [] : uri + [UInt8(ascii: "/")]
        var entries = (sheets + playlists).map { other in
            Entry.playlist(prefix + Array(other.file.utf8), modified: other.modified)
        }
        for sheet in sheets {
            entries.append(.sheet(prefix + Array(sheet.file.utf8), modified: sheet.modified))
            entries += try reader.songs(ofSheet: sheet.file, in: folder).map { Entry.song($0) }
        }
        rest = entries[...]
        return false
    }

    private func write(
        _ entry: Entry, _ song: inout MPDSong, to output: inout [UInt8], _ reader: inout MPDReader, _ tags: MPDTags
    ) throws(DatabaseError) {
        switch entry {
        case .playlist(let uri, let modified):
            output.line("playlist", uri)
            if isFull { output.lastModified(modified) }
        case .sheet(let uri, let modified):
            output.line("directory", uri)
            if isFull { output.lastModified(modified) }
        case .song(let id): if try reader.read(id, into: &song) { Self.write(song, isFull, tags, to: &output) }
        }
    }

    static func write(_ song: MPDSong, _ isFull: Bool, _ tags: MPDTags, to output: inout [UInt8]) {
        if isFull { song.write(to: &output, tags) } else { output.line("file", song.uri) }
    }
}

/// The lines of folders in a tree, each one once before its contents.
private struct FolderHeads {
    private let isFull: Bool
    /// The URI of the folder that was listed last; at first the folder above `base`.
    private var last: [UInt8]

    init(below base: [UInt8], isFull: Bool) {
        self.isFull = isFull
        // Folders above `base` are not listed.
        last = Array(base.prefix(upTo: base.lastIndex(of: UInt8(ascii: "/")) ?? 0))
    }

    /// Adds a folder, and the folders above it that have not been listed.
    /// - Parameter path: the path of the folder, to add its time.
    mutating func append(upTo uri: [UInt8], _ path: String?, to output: inout [UInt8]) {
        if uri == last { return }
        let slash = UInt8(ascii: "/")
        for end in uri.indices.filter({ uri[$0] == slash }) + [uri.count] {
            let parent = uri[..<end]
            let isListed = last.starts(with: parent) && (last.count == end || last[end] == slash)
            if isListed || end == 0 { continue }
            output.line("directory", parent)
            // The path of a folder above is shorter by as many bytes as its URI.
            if isFull, let path, let modified = Folder.modified(Self.path(path, without: uri.count - end)) {
                output.lastModified(modified)
            }
        }
        last = uri
    }

    private static func path(_ path: String, without count: Int) -> String {
        String(decoding: path.utf8.dropLast(count), as: UTF8.self)
    }
}
