import Appliance
import Database
import Library
import Media
import Platform

// The commands about folders of the library (lsinfo, listall, listallinfo) and of the medium (listfiles, readcomments).

extension MPDDatabase {
    // MARK: Trees

    func listAll(_ uri: String, isFull: Bool) throws(MPDFailure) -> MPDPages {
        let place = try place(of: uri)
        let roots: [String]
        switch place {
        case .song(let song): return songs(of: MPDWalk(songs: [song]), write: Self.write(isFull))
        case .sheet(let folder, let file): return try sheet(file, in: folder, isFull, folder: uri)
        case .folder(let path): roots = [path]
        case nil: roots = paths.sortedRoots.map { $0.path }
        }
        let (database, tags) = (self, tags)
        let folders = try read { (index) throws(DatabaseError) in
            try MPDReader(index, paths).folders(below: roots)
        }
        var tree = MPDTree(folders, below: place == nil ? [] : Array(uri.utf8), isFull: isFull)
        return MPDPages { (output) throws(MPDFailure) in
            try database.read { (index) throws(DatabaseError) in
                var reader = MPDReader(index, database.paths)
                return try tree.fill(&output, &reader, tags)
            }
        }
    }

    private static func write(_ isFull: Bool) -> (MPDSong, MPDTags, inout [UInt8]) -> Void {
        { song, tags, output in MPDTree.write(song, isFull, tags, to: &output) }
    }

    /// Lists the tracks of a cue sheet.
    /// - Parameter uri: the URI of the sheet, which comes first; nil to leave it out.
    private func sheet(
        _ file: String, in folder: Int64, _ isFull: Bool, folder uri: String? = nil
    ) throws(MPDFailure) -> MPDPages {
        let (songs, sheets) = try read { (index) throws(DatabaseError) in
            let reader = MPDReader(index, paths)
            return (try reader.songs(ofSheet: file, in: folder), try reader.sheets(inFolder: folder))
        }
        var head: [UInt8] = []
        if let uri {
            head.line("directory", uri.utf8)
            let modified = sheets.first { $0.file.utf8.elementsEqual(file.utf8) }?.modified
            if isFull, let modified { head.lastModified(modified) }
        }
        return self.songs(of: MPDWalk(songs: songs), after: head, write: Self.write(isFull))
    }

    // MARK: One folder

    func folder(_ uri: String) throws(MPDFailure) -> MPDPages {
        switch try place(of: uri) {
        case .song(let song): return songs(of: MPDWalk(songs: [song]), write: Self.write(true))
        case .sheet(let folder, let file): return try sheet(file, in: folder, true)
        case .folder(let path): return try folder(at: path, uri)
        case nil:
            if paths.rootNames == nil, let root = paths.sortedRoots.first { return try folder(at: root.path, "") }
            var lines: [UInt8] = []
            for root in paths.sortedRoots {
                lines.line("directory", root.uri.utf8)
                if let modified = Folder.modified(root.path) { lines.lastModified(modified) }
            }
            return MPDPages(lines)
        }
    }

    private func folder(at path: String, _ uri: String) throws(MPDFailure) -> MPDPages {
        let prefix = uri.utf8.isEmpty ? [] : Array(uri.utf8) + [UInt8(ascii: "/")]
        let parent = FilePlace(folder: path, file: "").folder
        var number: Int64?
        var others: [UInt8] = []
        try read { (index) throws(DatabaseError) in
            var reader = MPDReader(index, paths)
            number = try reader.number(ofFolderAt: path)
            guard let number else { return }
            let sheets = try reader.sheets(inFolder: number)
            for other in try sheets + reader.playlists(inFolder: number) {
                others.line("playlist", prefix + Array(other.file.utf8))
                others.lastModified(other.modified)
            }
            for sheet in sheets {
                others.line("directory", prefix + Array(sheet.file.utf8))
                others.lastModified(sheet.modified)
            }
        }
        let (database, tags) = (self, tags)
        var songs = number
        var place = TrackCursor.Place()
        var last: String?
        return MPDPages { (output) throws(MPDFailure) in
            try database.read { (index) throws(DatabaseError) in
                var reader = MPDReader(index, database.paths)
                if let folder = songs {
                    var song = MPDSong(uri: "")
                    _ = try reader.forEachSong(inFolder: folder, after: &place, &song) { song in
                        // Songs of cue sheets are listed with their sheets.
                        guard song.details?.part == 0 else { return true }
                        song.write(to: &output, tags)
                        return output.count < MPDPages.pieceSize
                    }
                    if output.count >= MPDPages.pieceSize { return true }
                    songs = nil
                }
                output += others
                others = []
                while output.count < MPDPages.pieceSize {
                    guard let name = try reader.folder(in: parent, after: last) else { return false }
                    output.line("directory", prefix + Array(name.utf8))
                    if let modified = Folder.modified("\(parent)/\(name)") { output.lastModified(modified) }
                    last = name
                }
                return true
            }
        }
    }

    // MARK: Files

    /// Lists all files of a folder of the medium, with their sizes.
    func files(_ uri: String) throws(MPDFailure) -> MPDPages {
        let isRoot = uri.utf8.isEmpty || MPDWord.isSame(uri, "/")
        if isRoot, paths.rootNames != nil { return try folder("") }
        guard isRoot || MusicURIs.isSafe(uri), let path = paths.path(ofURI: isRoot ? "" : uri) else {
            throw Self.noFolder
        }
        let roots = paths.musicRoots
        guard roots.contain(path) else { throw Self.noFolder }
        let entries: [Folder.Entry]
        do throws(SystemError) {
            entries = try Folder.entries(of: path) { entry in
                entry.mayBeLink && !roots.contain("\(path)/\(entry.name)") ? .skip : .keep
            }
        } catch {
            throw Self.noFolder
        }
        var place = 0
        return MPDPages { (output) throws(MPDFailure) in
            guard place < entries.count else { return false }
            let entry = entries[place]
            place += 1
            switch entry.kind {
            case .file:
                guard let stamp = FileStamp(of: "\(path)/\(entry.name)") else { return true }
                output.line("file", entry.name.utf8)
                output.line("size", stamp.size)
                output.lastModified(stamp.modifiedSeconds)
            case .folder:
                output.line("directory", entry.name.utf8)
                if let modified = Folder.modified("\(path)/\(entry.name)") { output.lastModified(modified) }
            case .other, nil: break
            }
            return true
        }
    }

    /// Lists the tags of a song, with the names of `tagtypes`.
    func comments(_ uri: String) throws(MPDFailure) -> MPDPages {
        guard let song = try song(at: uri) else { throw Self.noSong }
        var lines: [UInt8] = []
        MPDSong.forEachValue(in: song.tags) { tag, value in
            lines.line(tag.text, value)
            return true
        }
        return MPDPages(lines)
    }

    /// Returns the song with a URI; nil for another one.
    func song(at uri: String) throws(MPDFailure) -> MPDSong? {
        guard MusicURIs.isSafe(uri), let path = paths.path(ofURI: uri) else { return nil }
        return try read { (index) throws(DatabaseError) in
            var reader = MPDReader(index, paths)
            var song = MPDSong(uri: uri)
            return try reader.read(at: path, into: &song) ? song : nil
        }
    }
}
