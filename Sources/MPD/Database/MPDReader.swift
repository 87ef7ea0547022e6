import Appliance
import CLinux
import Database
import Library
import Media

/// Reads songs and folders of the index.
///
/// `+is_present` keeps SQLite from its index, which nearly all tracks are in.
///
/// Thread: within one `read` of the index.
struct MPDReader {
    private let database: Database
    private let paths: MusicURIs
    /// The folder that was read last.
    private var last: FolderRow?

    private struct FolderRow {
        var id: Int64
        var path: String
        /// nil outside of the music folders.
        var uri: [UInt8]?
    }

    private static let columns =
        "folder, file, part, modified, sample_rate, bit_depth, channels, codec, frames, tags, id"

    init(_ database: Database, _ paths: MusicURIs) {
        self.database = database
        self.paths = paths
    }

    // MARK: Songs

    private static let byID = StatementText("SELECT \(columns) FROM track WHERE id = ? AND is_present = 1")

    /// Reads a song.
    /// - Returns: whether the library has it.
    mutating func read(_ id: Int64, into song: inout MPDSong) throws(DatabaseError) -> Bool {
        var statement = try database.reusable(Self.byID)
        try statement.bind([.integer(id)])
        guard try statement.step() else { return false }
        return Self.take(statement, try uri(ofFolder: statement.number(0)), into: &song)
    }

    private static let byFile = StatementText(
        "SELECT \(columns), folder_position FROM track WHERE folder = ? AND file = ? AND part = ? AND is_present = 1")

    /// Reads the song that the queue plays under a path.
    /// - Returns: whether the library has it.
    mutating func read(at path: String, into song: inout MPDSong) throws(DatabaseError) -> Bool {
        try read(FilePlace(path), into: &song) != nil
    }

    /// - Returns: its place; nil when the library does not have it.
    private mutating func read(_ place: FilePlace, into song: inout MPDSong) throws(DatabaseError) -> Place? {
        let part = MPDSongFormat.part(of: place.file)
        if part > 0, let found = try read(FilePlace(place.folder), part, into: &song) { return found }
        return try read(place, 0, into: &song)
    }

    private mutating func read(
        _ place: FilePlace, _ part: Int64, into song: inout MPDSong
    ) throws(DatabaseError) -> Place? {
        guard let folder = try folder(at: place.folder) else { return nil }
        var statement = try database.reusable(Self.byFile)
        try statement.bind([.integer(folder.id), .text(place.file), .integer(part)])
        guard try statement.step(), Self.take(statement, folder.uri, into: &song) else { return nil }
        return Place(position: statement.number(11), id: statement.number(10))
    }

    /// Calls `use` for the songs that the queue plays under some paths, in their order. Most of them follow each other
    /// in their folders, too: those are the next rows.
    /// - Parameter use: takes the number of a path, the song, and whether the library has it.
    mutating func forEachSong(
        at paths: [String], _ song: inout MPDSong, _ use: (Int, inout MPDSong, _ isKnown: Bool) -> Void
    ) throws(DatabaseError) {
        var rows = try database.reusable(Self.inFolder)
        // The folder of the rows, while there is one more.
        var next: FolderRow?
        for (number, path) in paths.enumerated() {
            if let folder = next, Self.isNext(rows, in: folder.path, path) {
                let isKnown = Self.take(rows, folder.uri, into: &song)
                use(number, &song, isKnown)
                if try !rows.step() { next = nil }
                continue
            }
            let place = FilePlace(path)
            let found = try read(place, into: &song)
            next = nil
            if let found, number + 1 < paths.count, FilePlace(paths[number + 1]).isBeside(place), let folder = last {
                try rows.bind([.integer(folder.id), .integer(found.position), .integer(found.id)])
                if try rows.step() { next = folder }
            }
            use(number, &song, found != nil)
        }
    }

    /// Whether a row is the whole file at a path. Texts are not made for it, as a queue has many files.
    private static func isNext(_ row: borrowing Statement, in folder: String, _ path: String) -> Bool {
        guard row.number(2) == 0 else { return false }
        return folder.utf8.withContiguousStorageIfAvailable { folder in
            path.utf8.withContiguousStorageIfAvailable { path in
                // Safe: only empty memory may have no address.
                guard path.count > folder.count, path[folder.count] == UInt8(ascii: "/"),
                    folder.isEmpty || memcmp(path.baseAddress!, folder.baseAddress!, folder.count) == 0
                else { return false }
                return row.isText(1, UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: path[(folder.count + 1)...])))
            } ?? false
        } ?? false
    }

    /// A place in a folder, after a song.
    struct Place {
        fileprivate var position: Int64 = -1
        fileprivate var id: Int64 = 0
    }

    private static let inFolder = StatementText(
        """
        SELECT \(columns), folder_position FROM track
        WHERE folder = ?1 AND (folder_position, id) > (?2, ?3) AND +is_present = 1 ORDER BY folder_position, id
        """)

    /// Calls `use` for each song of a folder in their order, those of cue sheets after the others, until it returns
    /// false.
    /// - Parameters:
    ///   - place: where it begins; the place after the last song that was used at its end.
    ///   - isWanted: whether a song is read at all.
    /// - Returns: whether `use` has ended it.
    mutating func forEachSong(
        inFolder folder: Int64, after place: inout Place, where isWanted: (_ id: Int64) -> Bool = { _ in true },
        _ song: inout MPDSong, _ use: (MPDSong) -> Bool
    ) throws(DatabaseError) -> Bool {
        let uri = try uri(ofFolder: folder)
        var statement = try database.reusable(Self.inFolder)
        try statement.bind([.integer(folder), .integer(place.position), .integer(place.id)])
        while try statement.step() {
            let id = statement.number(10)
            place = Place(position: statement.number(11), id: id)
            if isWanted(id), Self.take(statement, uri, into: &song), !use(song) { return true }
        }
        return false
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
            id: row.number(10), modified: row.number(3) / 1_000_000_000, format: format, milliseconds: milliseconds,
            part: part)
        song.take(details) { uri, tags in
            // Raw bytes are copied at once.
            folder.withUnsafeBytes { uri.append(contentsOf: $0) }
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

    private static let folderByID = StatementText("SELECT id, path FROM folder WHERE id = ?")
    private static let folderByPath = StatementText("SELECT id, path FROM folder WHERE path = ?")

    /// Returns nil for a folder that is not in the music folders.
    mutating func uri(ofFolder id: Int64) throws(DatabaseError) -> [UInt8]? {
        if let last, last.id == id { return last.uri }
        return try folder(Self.folderByID, .integer(id))?.uri
    }

    mutating func path(ofFolder id: Int64) throws(DatabaseError) -> String? {
        if let last, last.id == id { return last.path }
        return try folder(Self.folderByID, .integer(id))?.path
    }

    /// - Parameter path: that of the index: the folder / is empty.
    private mutating func folder(at path: String) throws(DatabaseError) -> FolderRow? {
        if let last, last.path.utf8.elementsEqual(path.utf8) { return last }
        return try folder(Self.folderByPath, .text(path))
    }

    private mutating func folder(
        _ text: StatementText, _ key: DatabaseValue
    ) throws(DatabaseError) -> FolderRow? {
        var statement = try database.reusable(text)
        try statement.bind([key])
        guard try statement.step(), let path = statement.text(1) else { return nil }
        last = FolderRow(id: statement.number(0), path: path, uri: paths.uri(ofPath: path).map { Array($0.utf8) })
        return last
    }

    /// A file that is listed besides songs.
    struct OtherFile {
        var file: String
        /// Seconds since 1970.
        var modified: Int64
    }

    private static let playlists = StatementText(
        "SELECT file, modified FROM playlist WHERE folder = ? AND is_present = 1 ORDER BY file")
    private static let sheets = StatementText(
        """
        SELECT file, max(modified) FROM track WHERE folder = ? AND +is_present = 1 AND part > 0
        GROUP BY file ORDER BY file
        """)

    /// Returns the playlists of a folder.
    func playlists(inFolder id: Int64) throws(DatabaseError) -> [OtherFile] { try others(Self.playlists, id) }

    /// Returns the cue sheets of a folder, and the files with one.
    func sheets(inFolder id: Int64) throws(DatabaseError) -> [OtherFile] { try others(Self.sheets, id) }

    private func others(_ text: StatementText, _ folder: Int64) throws(DatabaseError) -> [OtherFile] {
        var statement = try database.reusable(text)
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

    // MARK: URIs

    /// The music of a URI.
    enum Music: Equatable {
        case folder(path: String)
        /// A cue sheet, or a file with one, whose tracks are listed like those of a folder.
        case sheet(folder: Int64, file: String)
        case song(Int64)
    }

    /// Returns nil when the library has no music there.
    /// - Parameter path: an absolute path; a track of a cue sheet is in its sheet.
    func music(at path: String) throws(DatabaseError) -> Music? {
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
    mutating func number(ofFolderAt path: String) throws(DatabaseError) -> Int64? {
        try folder(at: FilePlace(folder: path, file: "").folder)?.id
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
