import Appliance
import CLinux
import Database
import Library
import Media

/// Reads songs and folders of the index.
///
/// Thread: within one `read` of the index.
struct MPDReader {
    private let index: IndexReader
    private let paths: MusicURIs
    /// The folder that was read last.
    private var last: FolderRow?

    private struct FolderRow {
        var id: Int64
        var path: String
        /// The URI of the folder; nil outside of the music folders.
        var uri: [UInt8]?
    }

    init(_ index: IndexReader, _ paths: MusicURIs) {
        self.index = index
        self.paths = paths
    }

    // MARK: Songs

    /// Reads a song.
    /// - Returns: whether the song is in the library.
    mutating func read(_ id: Int64, into song: inout MPDSong) throws(DatabaseError) -> Bool {
        var track = try index.cursor(id)
        guard try track.next() else { return false }
        return Self.take(track, try uri(ofFolder: track.folder), into: &song)
    }

    /// Reads the song whose path in the queue is `path`.
    /// - Returns: whether the song is in the library.
    mutating func read(at path: String, into song: inout MPDSong) throws(DatabaseError) -> Bool {
        try read(FilePlace(path), into: &song) != nil
    }

    /// - Returns: the location of its track in the folder; nil when the song is not in the library.
    private mutating func read(
        _ place: FilePlace, into song: inout MPDSong
    ) throws(DatabaseError) -> TrackCursor.Place? {
        let part = MPDSongFormat.part(of: place.file)
        if part > 0, let found = try read(FilePlace(place.folder), part, into: &song) { return found }
        return try read(place, 0, into: &song)
    }

    private mutating func read(
        _ place: FilePlace, _ part: Int64, into song: inout MPDSong
    ) throws(DatabaseError) -> TrackCursor.Place? {
        guard let folder = try folder(at: place.folder) else { return nil }
        var track = try index.cursor(inFolder: folder.id, file: place.file, part: part)
        guard try track.next(), Self.take(track, folder.uri, into: &song) else { return nil }
        return track.place
    }

    /// Calls `use` for the songs at these paths of the queue, in their order. Most songs also follow each other in
    /// their folders, so they are read as the next rows.
    /// - Parameter use: called with the index of a path, its song, and whether the song is in the library.
    mutating func forEachSong(
        at paths: [String], _ song: inout MPDSong, _ use: (Int, inout MPDSong, _ isKnown: Bool) -> Void
    ) throws(DatabaseError) {
        var tracks = try index.folderCursor()
        // The folder of the tracks, while there is one more.
        var next: FolderRow?
        for (number, path) in paths.enumerated() {
            if let folder = next, Self.isNext(tracks, in: folder.path, path) {
                let isKnown = Self.take(tracks, folder.uri, into: &song)
                use(number, &song, isKnown)
                if try !tracks.next() { next = nil }
                continue
            }
            let place = FilePlace(path)
            let found = try read(place, into: &song)
            next = nil
            if let found, number + 1 < paths.count, FilePlace(paths[number + 1]).isBeside(place), let folder = last {
                try tracks.begin(inFolder: folder.id, after: found)
                if try tracks.next() { next = folder }
            }
            use(number, &song, found != nil)
        }
    }

    /// Whether a track is the whole file at a path. Makes no texts, because a queue has many files.
    private static func isNext(_ track: borrowing TrackCursor, in folder: String, _ path: String) -> Bool {
        guard track.part == 0 else { return false }
        return folder.utf8.withContiguousStorageIfAvailable { folder in
            path.utf8.withContiguousStorageIfAvailable { path in
                // Safe: only empty memory may have no address.
                guard path.count > folder.count, path[folder.count] == UInt8(ascii: "/"),
                    folder.isEmpty || memcmp(path.baseAddress!, folder.baseAddress!, folder.count) == 0
                else { return false }
                return track.isFile(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: path[(folder.count + 1)...])))
            } ?? false
        } ?? false
    }

    /// Calls `use` for each song of a folder in order until it returns false. Songs of cue sheets come after the
    /// others.
    /// - Parameters:
    ///   - place: the position in the folder at which to begin; set to the position after the last song that was used.
    ///   - isWanted: returns whether a song is read at all.
    /// - Returns: whether `use` has ended it.
    mutating func forEachSong(
        inFolder folder: Int64, after place: inout TrackCursor.Place,
        where isWanted: (_ id: Int64) -> Bool = { _ in true }, _ song: inout MPDSong, _ use: (MPDSong) -> Bool
    ) throws(DatabaseError) -> Bool {
        let uri = try uri(ofFolder: folder)
        var tracks = try index.folderCursor()
        try tracks.begin(inFolder: folder, after: place)
        while try tracks.next() {
            place = tracks.place
            if isWanted(tracks.id), Self.take(tracks, uri, into: &song), !use(song) { return true }
        }
        return false
    }

    /// Calls `use` for each song that fulfils the conditions, in the order of the index.
    /// - Parameter needsURI: whether `use` reads the URI.
    mutating func forEachSong(
        _ filter: TrackFilter, needsURI: Bool, _ use: (inout MPDSong, _ id: Int64, _ folder: Int64) -> Void
    ) throws(DatabaseError) {
        var tracks = try index.cursor(TrackQuery(filter))
        var song = MPDSong(uri: "")
        while try tracks.next() {
            let folder = tracks.folder
            let uri = needsURI ? try uri(ofFolder: folder) : []
            if Self.take(tracks, uri, into: &song) { use(&song, tracks.id, folder) }
        }
    }

    /// - Parameter folder: the URI of the folder; nil for one that is not in the music folders.
    private static func take(_ track: borrowing TrackCursor, _ folder: [UInt8]?, into song: inout MPDSong) -> Bool {
        guard let folder else { return false }
        let rate = track.sampleRate
        let milliseconds = track.frames.map { rate > 0 ? $0 / rate * 1000 + $0 % rate * 1000 / rate : 0 }
        let format = MPDSongFormat.format(
            rate: rate, bits: track.bitDepth, channels: track.channels, isDSD: track.codec == .dsd)
        let part = track.part
        let details = MPDSong.Details(
            id: track.id, modified: track.modified, format: format, milliseconds: milliseconds, part: part)
        song.take(details) { uri, tags in
            // Raw bytes are copied in one call.
            folder.withUnsafeBytes { uri.append(contentsOf: $0) }
            if !folder.isEmpty { uri.append(UInt8(ascii: "/")) }
            track.appendFile(to: &uri)
            if part > 0 {
                uri += Array("/track".utf8)
                uri.number(part, digits: 4)
            }
            track.appendTags(to: &tags)
        }
        return true
    }

    // MARK: Folders

    /// Returns nil for a folder that is not in the music folders.
    mutating func uri(ofFolder id: Int64) throws(DatabaseError) -> [UInt8]? {
        if let last, last.id == id { return last.uri }
        return take(try index.folder(id))?.uri
    }

    mutating func path(ofFolder id: Int64) throws(DatabaseError) -> String? {
        if let last, last.id == id { return last.path }
        return take(try index.folder(id))?.path
    }

    /// - Parameter path: a path in the form of the index, where the folder / is empty.
    private mutating func folder(at path: String) throws(DatabaseError) -> FolderRow? {
        if let last, last.path.utf8.elementsEqual(path.utf8) { return last }
        return take(try index.folder(at: path))
    }

    private mutating func take(_ folder: (id: Int64, path: String)?) -> FolderRow? {
        guard let (id, path) = folder else { return nil }
        last = FolderRow(id: id, path: path, uri: paths.uri(ofPath: path).map { Array($0.utf8) })
        return last
    }

    /// Returns the playlists of a folder.
    func playlists(inFolder id: Int64) throws(DatabaseError) -> [ListedFile] { try index.playlists(inFolder: id) }

    /// Returns the cue sheets of a folder, and the files that contain one.
    func sheets(inFolder id: Int64) throws(DatabaseError) -> [ListedFile] { try index.sheets(inFolder: id) }

    /// Returns these folders and their subfolders, each one followed by its contents.
    func folders(below roots: [String]) throws(DatabaseError) -> [Int64] {
        var folders: [Int64] = []
        for root in roots { folders += try index.folders(below: root) }
        return folders
    }

    /// Returns the first subfolder of `parent` after the subfolder `last`.
    /// - Parameter last: the name of a subfolder; nil for the first one.
    func folder(in parent: String, after last: String?) throws(DatabaseError) -> String? {
        try index.folder(in: parent, after: last)
    }

    // MARK: URIs

    /// The music of a URI.
    enum Music: Equatable {
        case folder(path: String)
        /// A cue sheet, or a file that contains one, whose tracks are listed like those of a folder.
        case sheet(folder: Int64, file: String)
        case song(Int64)
    }

    /// Returns nil when the library has no music at the path.
    /// - Parameter path: an absolute path, in which a cue sheet is the folder of its tracks.
    func music(at path: String) throws(DatabaseError) -> Music? {
        let place = FilePlace(path)
        if let track = try index.anyTrack(of: place) {
            return track.part == 0 ? .song(track.id) : .sheet(folder: track.folder, file: place.file)
        }
        if let song = try song(at: path) { return .song(song) }
        return try index.hasMusic(below: path) ? .folder(path: path) : nil
    }

    /// Returns the song whose path in the queue is `path`.
    func song(at path: String) throws(DatabaseError) -> Int64? {
        let place = FilePlace(path)
        let part = MPDSongFormat.part(of: place.file)
        if part > 0, let song = try index.track(at: FilePlace(place.folder), part: part) { return song }
        return try index.track(at: place, part: 0)
    }

    /// Returns the songs of a sheet, in their order.
    func songs(ofSheet file: String, in folder: Int64) throws(DatabaseError) -> [Int64] {
        try index.tracks(ofSheet: file, inFolder: folder)
    }

    /// Returns the number of a folder; nil when the index does not have it.
    mutating func number(ofFolderAt path: String) throws(DatabaseError) -> Int64? {
        try folder(at: FilePlace(folder: path, file: "").folder)?.id
    }
}

/// Conversions from columns of the index to fields of songs.
enum MPDSongFormat {
    static func format(rate: Int64, bits: Int64, channels: Int64, isDSD: Bool) -> MPDAudioFormat {
        let (rate, channels) = (Int(clamping: rate), Int(clamping: channels))
        if isDSD {
            let bytes = AudioProperties.bitRate(ofDecodedDSD: rate) / 8
            return MPDAudioFormat(rate: bytes, samples: .dsd, channels: channels)
        }
        return MPDAudioFormat(rate: rate, samples: .bits(Int(clamping: bits)), channels: channels)
    }

    /// Returns the number of a track in a cue sheet, 12 for `track0012`; 0 for another name.
    static func part(of name: String) -> Int64 {
        let bytes = Array(name.utf8)
        guard bytes.starts(with: "track".utf8), (9...10).contains(bytes.count),
            bytes[5...].allSatisfy({ (0x30...0x39).contains($0) })
        else { return 0 }
        return bytes[5...].reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }
}
