import CLinux
import Media
import Platform

/// The stored playlists: files `NAME.m3u8` in one folder (docs/decisions/stored-playlists.md). Those that other
/// programs wrote there, also `NAME.m3u`, are playlists like others; a change makes them `NAME.m3u8`.
///
///     let playlists = PlaylistFolder("/data/music/playlists")
///     try playlists.add(["/data/music/a.flac"], to: "Evening")
///     try playlists.entries(of: "evening")      // ["/data/music/a.flac"]
///
/// A change is complete, and on the medium, when it returns. A power cut leaves the playlist as it was before or after.
///
/// Thread: any that may block on the medium. Changes of this process exclude each other.
package struct PlaylistFolder: Sendable {
    package static let mostPlaylists = 1000
    package static let mostEntries = 100_000

    /// A change reads a file and writes it anew.
    private static let changing = Lock()

    private let folder: String
    /// The most bytes of a file.
    private let mostBytes: Int

    /// - Parameter folder: an absolute path. A missing folder is one without playlists; a change creates it.
    package init(_ folder: String) { self.init(folder, mostBytes: PlaylistFile.mostBytes) }

    init(_ folder: String, mostBytes: Int) {
        self.folder = folder
        self.mostBytes = mostBytes
    }

    // MARK: Reading

    /// Returns the names, without regard to case in their order.
    /// - Returns: `modified` is the time of the last change in seconds since 1970.
    package func all() throws(PlaylistFailure) -> [(name: String, modified: Int64)] {
        var all: [(name: String, modified: Int64)] = []
        var last: PlaylistName?
        for file in try files() {
            if let last, last.isSame(as: file.name) { continue }
            last = file.name
            guard let stamp = FileStamp(of: path(file.file)) else { continue }
            all.append((name: file.name.text, modified: stamp.modifiedSeconds))
        }
        return all
    }

    /// Returns the entries: absolute paths, also of tracks in cue sheets, and addresses of http, https and `tonearm:`.
    /// An entry of another program that may mean several paths is the first that exists.
    package func entries(of name: String) throws(PlaylistFailure) -> [String] {
        var entries: [String] = []
        try eachEntry(of: try existing(try PlaylistName(name))) { entries.append(Self.place(of: $0)) }
        return entries
    }

    /// Returns some of the entries, and the number of all.
    package func entries(
        of name: String, _ range: Range<Int>
    ) throws(PlaylistFailure) -> (count: Int, entries: [String]) {
        var (count, entries) = (0, [String]())
        try eachEntry(of: try existing(try PlaylistName(name))) { entry in
            if range.contains(count) { entries.append(Self.place(of: entry)) }
            count += 1
        }
        return (count, entries)
    }

    /// Returns the path of the file, which the queue plays.
    package func path(of name: String) throws(PlaylistFailure) -> String {
        path(try existing(try PlaylistName(name)).file)
    }

    private func eachEntry(
        of file: StoredPlaylistFile, _ body: (PlaylistEntry) -> Void
    ) throws(PlaylistFailure) {
        let bytes = try system { () throws(SystemError) in
            try File.contents(of: path(file.file), limit: PlaylistFile.mostBytes)
        }
        PlaylistFile.eachEntry(of: bytes, in: try resolved(), body)
    }

    private static func place(of entry: PlaylistEntry) -> String {
        if let place = found(entry) { return place }
        // A missing file is one of a medium that is out, or of another machine. A name in Latin-1 is unlikely.
        let paths = (entry.path.map { [$0] } ?? []) + entry.alternatives
        return paths.first { path in !path.unicodeScalars.contains { FileName.byte(of: $0) != nil } }
            ?? paths.first ?? entry.line
    }

    /// Returns an address, or the first path that exists.
    private static func found(_ entry: PlaylistEntry) -> String? {
        if let address = entry.webAddress ?? entry.serviceAddress { return address }
        if let path = entry.path, exists(path) { return path }
        return entry.alternatives.first(where: exists)
    }

    /// Whether there is a file, or a cue sheet with such a track.
    private static func exists(_ path: String) -> Bool {
        if FileKind(at: path) != nil { return true }
        let place = FilePlace(path)
        return place.file.utf8.starts(with: "track".utf8) && FileKind(at: place.folder) == .file
    }

    // MARK: Changing

    /// Creates a playlist.
    /// - Throws: `.exists`, also for a name that differs in case only.
    package func create(_ name: String, with entries: [String]) throws(PlaylistFailure) {
        let name = try PlaylistName(name)
        try change { () throws(PlaylistFailure) in
            if let file = try file(name) { throw .exists(file.name.text) }
            try write(try lines(entries), to: name, in: nil)
        }
    }

    /// Replaces the entries of a playlist, and creates a missing one.
    package func replace(_ name: String, with entries: [String]) throws(PlaylistFailure) {
        let name = try PlaylistName(name)
        try change { () throws(PlaylistFailure) in
            try write(try lines(entries), to: name, in: try file(name))
        }
    }

    /// Adds entries, and creates a missing playlist.
    /// - Parameter index: the index of the first of them; nil for the end.
    /// - Throws: `.noSuchEntry` for an index beyond the end.
    package func add(_ entries: [String], to name: String, at index: Int? = nil) throws(PlaylistFailure) {
        let name = try PlaylistName(name)
        try change { () throws(PlaylistFailure) in
            let file = try file(name)
            let former = if let file { try lines(of: file) } else { [Line]() }
            if former.count + entries.count > Self.mostEntries { throw .full(.entries) }
            let index = index ?? former.count
            guard index <= former.count else { throw .noSuchEntry(index: index, count: former.count) }
            try write(former[..<index] + (try lines(entries)) + former[index...], to: name, in: file)
        }
    }

    package func remove(_ name: String) throws(PlaylistFailure) {
        let name = try PlaylistName(name)
        try change { () throws(PlaylistFailure) in
            let file = try existing(name)
            try removeTwin(of: file)
            try system { () throws(SystemError) in
                try Folder.removeFile(path(file.file))
                try Folder.synchronize(containing: path(file.file))
            }
        }
    }

    /// - Throws: `.exists` when another playlist has the new name. Its case may change.
    package func rename(_ name: String, to newName: String) throws(PlaylistFailure) {
        let (name, newName) = (try PlaylistName(name), try PlaylistName(newName))
        try change { () throws(PlaylistFailure) in
            let file = try existing(name)
            if file.name.isSame(as: newName) { return }
            if let other = try self.file(newName), !other.name.isSame(as: file.name) { throw .exists(other.name.text) }
            try removeTwin(of: file)
            try system { () throws(SystemError) in
                try Folder.renameFile(path(file.file), to: path(file.file(named: newName)))
            }
        }
    }

    /// Removes entries. Those beyond the end are left out.
    /// - Returns: the number of removed entries.
    @discardableResult
    package func removeEntries(_ range: Range<Int>, of name: String) throws(PlaylistFailure) -> Int {
        let name = try PlaylistName(name)
        return try change { () throws(PlaylistFailure) in
            let file = try existing(name)
            var lines = try lines(of: file)
            try Self.check(range.lowerBound, of: lines.count)
            let removed = range.clamped(to: 0..<lines.count)
            if removed.isEmpty { return 0 }
            lines.removeSubrange(removed)
            try write(lines, to: name, in: file)
            return removed.count
        }
    }

    /// Moves an entry to the index `to` among the others.
    package func moveEntry(from: Int, to: Int, of name: String) throws(PlaylistFailure) {
        let name = try PlaylistName(name)
        try change { () throws(PlaylistFailure) in
            let file = try existing(name)
            var lines = try lines(of: file)
            try Self.check(from, of: lines.count)
            try Self.check(to, of: lines.count)
            if from == to { return }
            let line = lines.remove(at: from)
            lines.insert(line, at: to)
            try write(lines, to: name, in: file)
        }
    }

    /// Removes the temporary files of a power cut. Call it before other calls.
    package func removeLeftovers() {
        _ = try? FileReplacement.removeLeftovers(in: folder)
    }

    private static func check(_ index: Int, of count: Int) throws(PlaylistFailure) {
        if !(0..<count).contains(index) { throw .noSuchEntry(index: index, count: count) }
    }

    private func change<Result>(_ body: () throws(PlaylistFailure) -> Result) throws(PlaylistFailure) -> Result {
        try Self.changing.withLock { () throws(PlaylistFailure) in try body() }
    }

    // MARK: Lines

    /// A line of a playlist, in UTF-8.
    private typealias Line = [UInt8]

    /// Returns the lines of entries, and creates the folder, where relative paths begin.
    private func lines(_ entries: [String]) throws(PlaylistFailure) -> [Line] {
        if entries.count > Self.mostEntries { throw .full(.entries) }
        try createFolder()
        let folder = try resolved()
        var lines: [Line] = []
        lines.reserveCapacity(entries.count)
        for entry in entries {
            guard let line = PlaylistLine.bytes(of: entry, in: folder) else { throw .badEntry(entry) }
            lines.append(line)
        }
        return lines
    }

    /// Returns the lines of the entries of a file. An entry without a file keeps its line, which may mean other paths.
    private func lines(of file: StoredPlaylistFile) throws(PlaylistFailure) -> [Line] {
        let folder = try resolved()
        var lines: [Line] = []
        try eachEntry(of: file) { entry in
            let line = Self.found(entry).flatMap { PlaylistLine.bytes(of: $0, in: folder) }
            lines.append(line ?? Array(entry.line.utf8))
        }
        return lines
    }

    private func bytes(of lines: [Line]) throws(PlaylistFailure) -> [UInt8] {
        var bytes = Array("#EXTM3U\n".utf8)
        for line in lines {
            bytes += line
            bytes.append(UInt8(ascii: "\n"))
            if bytes.count > mostBytes { throw .full(.bytes) }
        }
        return bytes
    }

    // MARK: Files

    private func path(_ file: String) -> String { "\(folder)/\(file)" }

    /// Returns the files in the order of `precedes`.
    private func files() throws(PlaylistFailure) -> [StoredPlaylistFile] {
        let entries: [Folder.Entry]
        do throws(SystemError) {
            entries = try Folder.entries(of: folder) { entry in
                entry.kind == .file && StoredPlaylistFile(entry.name) != nil ? .keep : .skip
            }
        } catch {
            if error.meansNoFile { return [] }
            throw .system(error)
        }
        return entries.compactMap { StoredPlaylistFile($0.name) }.sorted(by: StoredPlaylistFile.precedes)
    }

    /// Returns the file with exactly this name, or else one whose name differs in case only.
    private func file(_ name: PlaylistName) throws(PlaylistFailure) -> StoredPlaylistFile? {
        let files = try files().filter { $0.name.folded.elementsEqual(name.folded) }
        return files.first { $0.name.isSame(as: name) } ?? files.first
    }

    private func existing(_ name: PlaylistName) throws(PlaylistFailure) -> StoredPlaylistFile {
        guard let file = try file(name) else { throw .noSuchPlaylist(name.text) }
        return file
    }

    private func createFolder() throws(PlaylistFailure) {
        if FileKind(at: folder) == .folder { return }
        try system { () throws(SystemError) in
            try Folder.create(folder)
            // Power loss before this: the folder is gone with the playlist, whose change has not returned.
            try Folder.synchronize(containing: folder)
        }
    }

    /// - Parameter file: the present file; nil for a new playlist.
    private func write(_ lines: [Line], to name: PlaylistName, in file: StoredPlaylistFile?) throws(PlaylistFailure) {
        if file == nil, try all().count >= Self.mostPlaylists { throw .full(.playlists) }
        let bytes = try bytes(of: lines)
        let name = file?.name ?? name
        let target = path(file.flatMap { $0.isFormer ? nil : $0.file } ?? name.text + StoredPlaylistFile.ending)
        try system { () throws(SystemError) in
            try FileReplacement.write(bytes, to: target)
            // Power loss here: there are both files, and the new one counts.
            if let file, file.isFormer { try Folder.removeFile(path(file.file)) }
        }
    }

    /// Removes the file `NAME.m3u` that `NAME.m3u8` hides: it would come back.
    private func removeTwin(of file: StoredPlaylistFile) throws(PlaylistFailure) {
        if file.isFormer { return }
        let twins = try files().filter { $0.isFormer && $0.name.isSame(as: file.name) }
        try system { () throws(SystemError) in
            for twin in twins { try Folder.removeFile(path(twin.file)) }
            // Power loss here: the playlist is as it was.
            if !twins.isEmpty { try Folder.synchronize(containing: path(file.file)) }
        }
    }

    /// Returns the folder without links, from which relative lines begin.
    private func resolved() throws(PlaylistFailure) -> String {
        try system { () throws(SystemError) in try Folder.resolved(folder) }
    }

    private func system<Value>(_ body: () throws(SystemError) -> Value) throws(PlaylistFailure) -> Value {
        do throws(SystemError) { return try body() } catch { throw .system(error) }
    }
}
