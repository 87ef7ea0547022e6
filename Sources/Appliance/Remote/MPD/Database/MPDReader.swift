import Database
import Library
import Media

/// Reads songs and folders of the index, with statements that are compiled once.
///
/// `+is_present` keeps SQLite from its index, which nearly all tracks are in.
///
/// Thread: within one `read` of the index.
struct MPDReader: ~Copyable {
    private let database: Database
    private let paths: MPDPaths
    private var song: Statement
    private var folder: Statement
    private var tracks: Statement
    /// The folder that was read last, and its URI; nil outside of the music folders.
    private var lastFolder: (id: Int64, uri: [UInt8]?)?

    private static let columns =
        "folder, file, part, modified, sample_rate, bit_depth, channels, codec, frames, tags, id"

    init(_ database: Database, _ paths: MPDPaths) throws(DatabaseError) {
        let song = try database.prepare("SELECT \(Self.columns) FROM track WHERE id = ? AND is_present = 1")
        let folder = try database.prepare("SELECT path FROM folder WHERE id = ?")
        let tracks = try database.prepare(
            """
            SELECT id, part > 0 FROM track WHERE folder = ? AND +is_present = 1
            ORDER BY part > 0, CASE WHEN part > 0 THEN file END, album COLLATE NOCASE, disc_number, track_number,
                file COLLATE NOCASE, part
            """)
        self.database = database
        self.paths = paths
        self.song = song
        self.folder = folder
        self.tracks = tracks
    }

    // MARK: Songs

    /// Reads a song.
    /// - Returns: whether the library has it.
    mutating func read(_ id: Int64, into song: inout MPDSong) throws(DatabaseError) -> Bool {
        try self.song.bind([.integer(id)])
        guard try self.song.step() else { return false }
        let uri = try uri(ofFolder: self.song.number(0))
        let isThere = Self.take(self.song, uri, into: &song)
        self.song.reset()
        return isThere
    }

    /// Calls `use` for each song that fulfils the conditions, in the order of the index.
    /// - Parameter needsURI: whether `use` looks at the URI.
    mutating func forEachSong(
        _ clauses: [(sql: String, values: [DatabaseValue])], needsURI: Bool,
        _ use: (inout MPDSong, _ id: Int64, _ folder: Int64) -> Void
    ) throws(DatabaseError) {
        let conditions = (["+is_present = 1"] + clauses.map { $0.sql }).joined(separator: " AND ")
        var statement = try database.prepare("SELECT \(Self.columns) FROM track WHERE \(conditions)")
        try statement.bind(clauses.flatMap { $0.values })
        var song = MPDSong(uri: "")
        while try statement.step() {
            let folder = statement.number(0)
            let uri = needsURI ? try uri(ofFolder: folder) : []
            if Self.take(statement, uri, into: &song) { use(&song, statement.number(10), folder) }
        }
    }

    /// - Parameter folder: its URI; nil for one that is not in the music folders.
    private static func take(_ row: borrowing Statement, _ folder: [UInt8]?, into song: inout MPDSong) -> Bool {
        guard let folder else { return false }
        let rate = row.number(4)
        let milliseconds = row.integer(8).map { rate > 0 ? $0 / rate * 1000 + $0 % rate * 1000 / rate : 0 }
        let format = MPDSongFormat.format(
            rate: rate, bits: row.number(5), channels: row.number(6), codec: row.number(7))
        let part = row.number(2)
        let details = MPDSong.Details(
            modified: row.number(3) / 1_000_000_000, format: format, milliseconds: milliseconds, part: part)
        song.take(details) { uri, tags in
            uri += folder
            if !folder.isEmpty { uri.append(UInt8(ascii: "/")) }
            row.append(1, to: &uri)
            if part > 0 {
                uri += Array("/track".utf8)
                uri.number(part, digits: 4)
            }
            row.append(9, to: &tags)
        }
        return true
    }

    // MARK: Folders

    /// Returns nil for a folder that is not in the music folders.
    mutating func uri(ofFolder id: Int64) throws(DatabaseError) -> [UInt8]? {
        if let lastFolder, lastFolder.id == id { return lastFolder.uri }
        let uri = try path(ofFolder: id).flatMap { paths.uri(ofPath: $0) }.map { Array($0.utf8) }
        lastFolder = (id, uri)
        return uri
    }

    mutating func path(ofFolder id: Int64) throws(DatabaseError) -> String? {
        try folder.bind([.integer(id)])
        let path = try folder.step() ? folder.text(0) : nil
        folder.reset()
        return path
    }

    /// Returns the songs of a folder in their order: those of files, and those of cue sheets.
    mutating func songs(inFolder id: Int64) throws(DatabaseError) -> (files: [Int64], sheets: [Int64]) {
        try tracks.bind([.integer(id)])
        var songs: (files: [Int64], sheets: [Int64]) = ([], [])
        while try tracks.step() {
            if tracks.number(1) == 0 {
                songs.files.append(tracks.number(0))
            } else {
                songs.sheets.append(tracks.number(0))
            }
        }
        return songs
    }

    /// A file that is listed besides songs.
    struct OtherFile {
        var file: String
        /// Seconds since 1970.
        var modified: Int64
    }

    /// Returns the playlists of a folder.
    mutating func playlists(inFolder id: Int64) throws(DatabaseError) -> [OtherFile] {
        try others("SELECT file, modified FROM playlist WHERE folder = ? AND is_present = 1 ORDER BY file", id)
    }

    /// Returns the cue sheets of a folder, and the files with one.
    mutating func sheets(inFolder id: Int64) throws(DatabaseError) -> [OtherFile] {
        try others(
            """
            SELECT file, max(modified) FROM track WHERE folder = ? AND +is_present = 1 AND part > 0
            GROUP BY file ORDER BY file
            """, id)
    }

    private func others(_ sql: String, _ folder: Int64) throws(DatabaseError) -> [OtherFile] {
        var statement = try database.prepare(sql)
        try statement.bind([.integer(folder)])
        var files: [OtherFile] = []
        while try statement.step() {
            files.append(OtherFile(file: statement.text(0) ?? "", modified: statement.number(1) / 1_000_000_000))
        }
        return files
    }

    /// Returns the folders at and below some folders, each one followed by its contents.
    func folders(below roots: [String]) throws(DatabaseError) -> [Int64] {
        var folders: [Int64] = []
        for root in roots {
            let range = Self.range(below: root)
            var statement = try database.prepare(
                "SELECT id FROM folder WHERE place >= ? AND place < ? ORDER BY place")
            try statement.bind([.bytes(range.start), .bytes(range.end)])
            while try statement.step() { folders.append(statement.number(0)) }
        }
        return folders
    }

    /// Returns the first folder in a folder, after another one there.
    /// - Parameter last: its name; nil for the first one.
    func folder(in parent: String, after last: String?) throws(DatabaseError) -> String? {
        var range = Self.range(below: parent)
        if let last { range.start = Self.range(below: "\(parent)/\(last)").end }
        var statement = try database.prepare(
            """
            SELECT path FROM folder WHERE place > ? AND place < ?
                AND EXISTS (SELECT 1 FROM track WHERE track.folder = folder.id AND +is_present = 1)
            ORDER BY place LIMIT 1
            """)
        try statement.bind([.bytes(range.start), .bytes(range.end)])
        guard try statement.step(), let path = statement.text(0) else { return nil }
        let name = path.utf8.dropFirst(parent.utf8.count + 1).prefix { $0 != UInt8(ascii: "/") }
        return String(decoding: name, as: UTF8.self)
    }

    /// The places of a folder and its contents.
    private static func range(below folder: String) -> (start: [UInt8], end: [UInt8]) {
        let start = FolderOrder.place(of: folder)
        // No byte of UTF-8 is 0xFF.
        guard let last = start.last else { return ([], [0xFF]) }
        return (start, start.dropLast() + [last + 1])
    }

    // MARK: Places

    /// The music of a URI.
    enum Place: Equatable {
        case folder(path: String)
        /// A cue sheet, or a file with one, whose tracks are listed like those of a folder.
        case sheet(folder: Int64, file: String)
        case song(Int64)
    }

    /// Returns nil when the library has no music there.
    /// - Parameter path: an absolute path; a track of a cue sheet is in its sheet.
    func place(of path: String) throws(DatabaseError) -> Place? {
        let place = FilePlace(path)
        var file = try database.prepare(
            """
            SELECT id, part, folder FROM track
            WHERE folder = (SELECT id FROM folder WHERE path = ?) AND file = ? AND is_present = 1 LIMIT 1
            """)
        try file.bind([.text(place.folder), .text(place.file)])
        if try file.step() {
            return file.number(1) == 0
                ? .song(file.number(0)) : .sheet(folder: file.number(2), file: place.file)
        }
        if let song = try song(at: path) { return .song(song) }
        let range = Self.range(below: path)
        var folder = try database.prepare(
            """
            SELECT 1 FROM folder WHERE place >= ? AND place < ?
                AND (EXISTS (SELECT 1 FROM track WHERE track.folder = folder.id AND +is_present = 1)
                    OR EXISTS (SELECT 1 FROM playlist WHERE playlist.folder = folder.id AND +is_present = 1)) LIMIT 1
            """)
        try folder.bind([.bytes(range.start), .bytes(range.end)])
        return try folder.step() ? .folder(path: path) : nil
    }

    /// Returns the song that the queue plays under a path.
    func song(at path: String) throws(DatabaseError) -> Int64? {
        let place = FilePlace(path)
        let part = MPDSongFormat.part(of: place.file)
        if part > 0, let song = try song(FilePlace(place.folder), part) { return song }
        return try song(place, 0)
    }

    private func song(_ place: FilePlace, _ part: Int64) throws(DatabaseError) -> Int64? {
        var statement = try database.prepare(
            """
            SELECT id FROM track WHERE folder = (SELECT id FROM folder WHERE path = ?) AND file = ? AND part = ?
                AND is_present = 1
            """)
        try statement.bind([.text(place.folder), .text(place.file), .integer(part)])
        return try statement.step() ? statement.number(0) : nil
    }

    /// Returns the songs of a sheet, in their order.
    func songs(ofSheet file: String, in folder: Int64) throws(DatabaseError) -> [Int64] {
        var statement = try database.prepare(
            "SELECT id FROM track WHERE folder = ? AND file = ? AND part > 0 AND +is_present = 1 ORDER BY part")
        try statement.bind([.integer(folder), .text(file)])
        var songs: [Int64] = []
        while try statement.step() { songs.append(statement.number(0)) }
        return songs
    }

    /// Returns the number of a folder; nil when the index does not have it.
    func folder(at path: String) throws(DatabaseError) -> Int64? {
        var statement = try database.prepare("SELECT id FROM folder WHERE path = ?")
        try statement.bind([.text(FilePlace(folder: path, file: "").folder)])
        return try statement.step() ? statement.number(0) : nil
    }
}

/// The fields of songs that follow from columns.
enum MPDSongFormat {
    /// - Parameter codec: the number in the index.
    static func format(rate: Int64, bits: Int64, channels: Int64, codec: Int64) -> MPDAudioFormat {
        let (rate, channels) = (Int(clamping: rate), Int(clamping: channels))
        if FormatNumber.codec(Int(clamping: codec)) == .dsd {
            let bytes = AudioProperties.bitRate(ofDecodedDSD: rate) / 8
            return MPDAudioFormat(rate: bytes, samples: .dsd, channels: channels)
        }
        return MPDAudioFormat(rate: rate, samples: .bits(Int(clamping: bits)), channels: channels)
    }

    /// Returns the number in a cue sheet of `track0012`; 0 for another name.
    static func part(of name: String) -> Int64 {
        let bytes = Array(name.utf8)
        guard bytes.starts(with: "track".utf8), (9...10).contains(bytes.count),
            bytes[5...].allSatisfy({ (0x30...0x39).contains($0) })
        else { return 0 }
        return bytes[5...].reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }
}
