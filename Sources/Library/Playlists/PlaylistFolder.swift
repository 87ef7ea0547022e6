import CLinux
import Manifests
import Media
import Platform

/// The stored playlists: files `NAME.m3u8` in one folder (docs/decisions/stored-playlists.md). Files that other
/// programs wrote there, also `NAME.m3u`, are stored playlists too. A change renames them to `NAME.m3u8`
/// (docs/decisions/playlists.md).
///
///     let playlists = PlaylistFolder("/data/music/playlists")
///     try playlists.add(["/data/music/a.flac"], to: "Evening")
///     try playlists.entries(of: "evening")      // ["/data/music/a.flac"]
///
/// A change is complete, and on the medium, when it returns. Entries that are added at the end are appended to the
/// file, and a power cut leaves some of them. Other changes replace the file: a power cut leaves it as it was before or
/// after.
///
/// Thread: any that may block on the medium. Changes of this process exclude each other.
package struct PlaylistFolder: Sendable {
    package static let mostPlaylists = 1000
    package static let mostEntries = 100_000

    /// Serialises changes, because a change reads a file and writes it again.
    private static let changing = Lock()

    let folder: String
    /// The most bytes of a file.
    let mostBytes: Int
    /// Returns the path for a line that is relative to the root of the music, as MPD writes it; nil for another line.
    private let musicPath: @Sendable (String) -> String?
    /// Used under `changing`.
    let tail = PlaylistTail()

    /// - Parameters:
    ///   - folder: an absolute path. A missing folder counts as empty, and a change creates it.
    ///   - musicPath: returns the path for a line that is relative to the root of the music; nil for another line.
    package init(_ folder: String, musicPath: @escaping @Sendable (String) -> String? = { _ in nil }) {
        self.init(folder, mostBytes: PlaylistFile.mostBytes, musicPath: musicPath)
    }

    init(_ folder: String, mostBytes: Int, musicPath: @escaping @Sendable (String) -> String? = { _ in nil }) {
        self.folder = folder
        self.mostBytes = mostBytes
        self.musicPath = musicPath
    }

    // MARK: Reading

    /// Returns the names, sorted without regard to case.
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
    /// If another program's entry may mean several paths, returns the first existing one.
    package func entries(of name: String) throws(PlaylistFailure) -> [String] {
        try entries(of: name, 0..<Int.max).entries
    }

    /// Returns the entries in a range, and the number of all. Only the returned entries are searched on the medium.
    package func entries(
        of name: String, _ range: Range<Int>
    ) throws(PlaylistFailure) -> (count: Int, entries: [String]) {
        var (count, entries) = (0, [String]())
        try eachEntry(of: try existing(try PlaylistName(name)), range, count: &count) { entries.append(place(of: $0)) }
        return (count, entries)
    }

    /// Returns the existing entries, and the lines of the missing ones.
    package func music(
        of name: String, _ range: Range<Int>
    ) throws(PlaylistFailure) -> (entries: [String], missing: [String]) {
        var (count, entries, missing) = (0, [String](), [String]())
        try eachEntry(of: try existing(try PlaylistName(name)), range, count: &count) { entry in
            if let place = found(entry) { entries.append(place) } else { missing.append(entry.line) }
        }
        return (entries, missing)
    }

    /// Returns the path of the file, which the queue plays.
    package func path(of name: String) throws(PlaylistFailure) -> String {
        path(try existing(try PlaylistName(name)).file)
    }

    private func eachEntry(
        of file: StoredPlaylistFile, _ range: Range<Int>, count: inout Int, _ body: (PlaylistEntry) -> Void
    ) throws(PlaylistFailure) {
        let (bytes, folder) = (try bytes(of: file), try resolved())
        PlaylistFile.eachLine(of: bytes, in: folder) { line in
            defer { count += 1 }
            guard range.contains(count), let entry = line.entry(in: folder, musicPath: musicPath) else { return }
            tail.note(lookedUp: 1)
            body(entry)
        }
    }

    /// Returns the bytes of a file without a torn line.
    private func bytes(of file: StoredPlaylistFile) throws(PlaylistFailure) -> [UInt8] {
        let bytes = try system { () throws(SystemError) in
            try File.contents(of: path(file.file), limit: PlaylistFile.mostBytes)
        }
        tail.note(read: bytes.count)
        return PlaylistLine.whole(bytes)
    }

    private func place(of entry: PlaylistEntry) -> String {
        if let place = found(entry) { return place }
        // If the file is missing, its medium may be unplugged, or the list may come from another machine. A name in
        // Latin-1 is unlikely.
        let paths = (entry.path.map { [$0] } ?? []) + entry.alternatives
        return paths.first { path in !path.unicodeScalars.contains { FileName.byte(of: $0) != nil } }
            ?? paths.first ?? entry.line
    }

    /// Returns an address, or the first path that exists.
    private func found(_ entry: PlaylistEntry) -> String? {
        if let address = entry.webAddress ?? entry.serviceAddress { return address }
        if let path = entry.path, Self.exists(path) { return path }
        return entry.alternatives.first(where: Self.exists)
    }

    /// Returns whether the path is an existing file, or a track of an existing cue sheet.
    private static func exists(_ path: String) -> Bool {
        if FileKind(at: path) != nil { return true }
        let place = FilePlace(path)
        return place.file.utf8.starts(with: "track".utf8) && FileKind(at: place.folder) == .file
    }

    // MARK: Changing

    /// Creates a playlist.
    /// - Throws: `.exists`, also if the names differ only in case.
    package func create(_ name: String, with entries: [String]) throws(PlaylistFailure) {
        let name = try PlaylistName(name)
        try change { () throws(PlaylistFailure) in
            if let file = try file(name) { throw .exists(file.name.text) }
            try write(try lines(entries, in: try created()), to: name, in: nil)
        }
    }

    /// Replaces the entries of a playlist, and creates a missing one.
    package func replace(_ name: String, with entries: [String]) throws(PlaylistFailure) {
        let name = try PlaylistName(name)
        try change { () throws(PlaylistFailure) in
            try write(try lines(entries, in: try created()), to: name, in: try file(name))
        }
    }

    /// Adds entries, and creates a missing playlist.
    /// - Parameter index: the index of the first added entry; nil for the end.
    /// - Throws: `.noSuchEntry` for an index beyond the end.
    package func add(_ entries: [String], to name: String, at index: Int? = nil) throws(PlaylistFailure) {
        if let failure = try apply([.add(entries, at: index)], to: name).failure { throw failure }
    }

    /// Makes changes in order, up to the first that fails, and writes the file once.
    /// - Returns: the number of changes that were made, and the reason why the next one failed.
    package func apply(
        _ changes: [PlaylistChange], to name: String
    ) throws(PlaylistFailure) -> (count: Int, failure: PlaylistFailure?) {
        let name = try PlaylistName(name)
        return try change { () throws(PlaylistFailure) in
            if let added = try append(changes, to: name) { return added }
            let file = try file(name)
            var draft = PlaylistDraft(try file.map { (file) throws(PlaylistFailure) in try lines(of: file) })
            var (count, failure) = (0, PlaylistFailure?.none)
            let adds = changes.contains { if case .add = $0 { true } else { false } }
            let folder = adds ? try created() : folder
            for change in changes {
                do throws(PlaylistFailure) {
                    try draft.make(change, of: name, mostBytes: mostBytes) { (entries) throws(PlaylistFailure) in
                        try lines(entries, in: folder)
                    }
                } catch {
                    failure = error
                    break
                }
                count += 1
            }
            if draft.hasChanged, let lines = draft.lines { try write(lines, to: name, in: file) }
            return (count, failure)
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

    /// - Throws: `.exists` when another playlist has the new name. Changing only the case is allowed.
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

    /// Removes entries. Indexes beyond the end are ignored.
    /// - Returns: the number of removed entries.
    @discardableResult
    package func removeEntries(_ range: Range<Int>, of name: String) throws(PlaylistFailure) -> Int {
        let name = try PlaylistName(name)
        return try change { () throws(PlaylistFailure) in
            let file = try existing(name)
            var draft = PlaylistDraft(try lines(of: file))
            let removed = try draft.remove(range)
            if removed > 0, let lines = draft.lines { try write(lines, to: name, in: file) }
            return removed
        }
    }

    /// Moves an entry to the index `to` among the others.
    package func moveEntry(from: Int, to: Int, of name: String) throws(PlaylistFailure) {
        if let failure = try apply([.move(from: from, to: to)], to: name).failure { throw failure }
    }

    /// Removes temporary files that a power cut left. Call it before other calls.
    package func removeLeftovers() {
        _ = try? FileReplacement.removeLeftovers(in: folder)
    }

    private func change<Result>(_ body: () throws(PlaylistFailure) -> Result) throws(PlaylistFailure) -> Result {
        try Self.changing.withLock { () throws(PlaylistFailure) in try body() }
    }

    // MARK: Lines

    /// A line of a playlist, in UTF-8.
    typealias Line = [UInt8]

    /// Returns the lines of entries.
    /// - Parameter folder: the base of relative paths.
    func lines(_ entries: [String], in folder: String) throws(PlaylistFailure) -> [Line] {
        if entries.count > Self.mostEntries { throw .full(.entries) }
        var lines: [Line] = []
        lines.reserveCapacity(entries.count)
        for entry in entries {
            guard let line = PlaylistLine.bytes(of: entry, in: folder) else { throw .badEntry(entry) }
            lines.append(line)
        }
        return lines
    }

    /// Returns the lines of the entries of a file. Lines of a file in UTF-8 are unchanged. In a file of another
    /// program, the line of a missing entry is also unchanged, because it may mean other paths.
    private func lines(of file: StoredPlaylistFile) throws(PlaylistFailure) -> [Line] {
        var lines: [Line] = []
        let (bytes, folder) = (try bytes(of: file), try resolved())
        let keeps = !file.isFormer && PlaylistLine.isUTF8(bytes)
        PlaylistFile.eachLine(of: bytes, in: folder) { line in
            guard !keeps, let entry = line.entry(in: folder, musicPath: musicPath) else {
                return lines.append(Array(line.bytes))
            }
            tail.note(lookedUp: 1)
            lines.append(found(entry).flatMap { PlaylistLine.bytes(of: $0, in: folder) } ?? Array(entry.line.utf8))
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

    func path(_ file: String) -> String { "\(folder)/\(file)" }

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

    /// Returns the file with exactly this name, or else one whose name differs only in case.
    func file(_ name: PlaylistName) throws(PlaylistFailure) -> StoredPlaylistFile? {
        let files = try files().filter { $0.name.folded.elementsEqual(name.folded) }
        return files.first { $0.name.isSame(as: name) } ?? files.first
    }

    private func existing(_ name: PlaylistName) throws(PlaylistFailure) -> StoredPlaylistFile {
        guard let file = try file(name) else { throw .noSuchPlaylist(name.text) }
        return file
    }

    /// Creates the folder if it is missing.
    /// - Returns: the folder without links.
    private func created() throws(PlaylistFailure) -> String {
        if FileKind(at: folder) != .folder {
            try system { () throws(SystemError) in
                try Folder.create(folder)
                // Power loss before this: the folder and the playlist are lost, but the change has not returned yet.
                try Folder.synchronize(containing: folder)
            }
        }
        return try resolved()
    }

    /// - Parameter file: the current file; nil for a new playlist.
    private func write(_ lines: [Line], to name: PlaylistName, in file: StoredPlaylistFile?) throws(PlaylistFailure) {
        if file == nil, try all().count >= Self.mostPlaylists { throw .full(.playlists) }
        let bytes = try bytes(of: lines)
        let name = file?.name ?? name
        let target = path(file.flatMap { $0.isFormer ? nil : $0.file } ?? name.text + StoredPlaylistFile.ending)
        tail.note(written: bytes.count, syncs: 1)
        try system { () throws(SystemError) in
            try FileReplacement.write(bytes, to: target)
            // Power loss here: there are both files, and the new one counts.
            if let file, file.isFormer { try Folder.removeFile(path(file.file)) }
        }
    }

    /// Removes the file `NAME.m3u` that `NAME.m3u8` hides, because it would otherwise reappear.
    private func removeTwin(of file: StoredPlaylistFile) throws(PlaylistFailure) {
        if file.isFormer { return }
        let twins = try files().filter { $0.isFormer && $0.name.isSame(as: file.name) }
        try system { () throws(SystemError) in
            for twin in twins { try Folder.removeFile(path(twin.file)) }
            // Power loss here: the playlist is unchanged.
            if !twins.isEmpty { try Folder.synchronize(containing: path(file.file)) }
        }
    }

    /// Returns the folder with links resolved, which is the base of relative lines.
    func resolved() throws(PlaylistFailure) -> String {
        try system { () throws(SystemError) in try Folder.resolved(folder) }
    }

    func system<Value>(_ body: () throws(SystemError) -> Value) throws(PlaylistFailure) -> Value {
        do throws(SystemError) { return try body() } catch { throw .system(error) }
    }
}
