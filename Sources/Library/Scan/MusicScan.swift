import Database
import Manifests
import Media
import Platform

/// Compares a music folder, or a part of it, with the index, and reads the heads of new and changed files.
///
/// A file whose size, time and state are those of the index is not opened. Only the rows of one folder are in memory.
package struct MusicScan {
    /// The files to compare. Paths are absolute, without dots.
    package enum Scope: Equatable, Sendable {
        /// A folder with all its contents.
        case tree(String)
        case file(String)
    }

    package struct Summary: Equatable, Sendable {
        /// The number of music files.
        package var tracks = 0
        /// The number of music files that were read.
        package var read = 0
        /// The number of music files that are gone since the last scan.
        package var gone = 0
        /// The number of files that look like music but cannot be read.
        package var problems = 0
        /// The number of these files that were not known before.
        package var newProblems = 0
        /// The number of playlists that are new, changed or gone.
        package var playlists = 0
        /// The links that lead out of the music folders, and are not followed.
        package var linksOut: [String] = []

        package init() {}

        /// Whether anything has changed.
        package var hasChanges: Bool { read > 0 || gone > 0 || playlists > 0 || newProblems > 0 }

        package static func += (sum: inout Summary, other: Summary) {
            sum.tracks += other.tracks
            sum.read += other.read
            sum.gone += other.gone
            sum.problems += other.problems
            sum.newProblems += other.newProblems
            sum.linksOut += other.linksOut
            sum.playlists += other.playlists
        }
    }

    private let index: MusicIndex
    private let scope: Scope
    private let rules: ScanRules
    private let control: ScanControl?
    /// Notified of each folder before it is read.
    private let watch: FolderWatch?
    /// The music folder in which playlists may find their files, and a function that converts lines relative to the
    /// root of all music.
    private let music: (root: String?, path: PlaylistEntry.MusicPath)
    /// The folders into which links may lead; nil to follow all links.
    private let roots: MusicRoots?
    private let failures: ScanFailures
    /// The time at which new tracks are added, in seconds since 1970; nil for the time of the last change of each file.
    private let now: Int64?
    /// Notified after a transaction with `ContentChanges`.
    private let changed: () -> Void

    package init(
        index: MusicIndex, scope: Scope, rules: ScanRules, control: ScanControl? = nil, watch: FolderWatch? = nil,
        root: String? = nil, roots: MusicRoots? = nil, failures: ScanFailures = ScanFailures(), now: Int64? = nil,
        musicPath: @escaping PlaylistEntry.MusicPath = { _ in nil }, changed: @escaping () -> Void = {}
    ) {
        self.index = index
        self.scope = scope
        self.rules = rules
        self.control = control
        self.watch = watch
        music = (root, musicPath)
        self.roots = roots
        self.failures = failures
        self.now = now
        self.changed = changed
    }

    package func run() throws(DatabaseError) -> Summary {
        var summary = Summary()
        var batch = ScanBatch(index, now, changed)
        var visited: Set<Int64> = []
        // A folder with a greater number was added by this scan, and was therefore visited.
        let lastFolder = try index.number("SELECT max(id) FROM folder")
        var walk = FolderWalk(scope, rules, in: roots, failures) { watch?.add($0) ?? true }
        while let listing = walk.next() {
            control?.found(listing.files.count)
            var known = try KnownFiles(listing.folder, index)
            if let folder = known.folder { visited.insert(folder) }
            if case .file(let file) = scope { known.keep(only: FilePlace(file).file) }
            for file in listing.files {
                guard control?.mayReadNext() ?? true else {
                    try batch.store()
                    summary.linksOut = walk.linksOut
                    return summary
                }
                let place = FilePlace(folder: listing.folder, file: file)
                guard let stamp = walk.stamp(of: place.path) else { continue }
                if let change = change(place, stamp, &known, listing, &summary) {
                    try batch.add(place, change)
                }
            }
            try noteGone(known, listing.folder, walk, &batch, &summary)
        }
        if case .tree(let folder) = scope {
            for (number, path) in try index.folders(below: folder)
            where number <= lastFolder && !visited.contains(number) {
                if walk.isUnread(path) { continue }
                try noteGone(try KnownFiles(path, index), path, walk, &batch, &summary)
            }
        }
        try batch.store()
        summary.linksOut = walk.linksOut
        return summary
    }

    /// Updates albums, sheets and playlists after one or several scans.
    package static func finish(_ index: MusicIndex) throws(DatabaseError) {
        try index.write { (database) throws(DatabaseError) in
            try ContentChangeRows(database: database).confirm()
            try SheetRows(database).hideFiles()
            try PlaylistRows(database).resolve()
            try TrackRows(database).finish()
        }
    }

    /// Marks all files outside of the folder as gone: the index may come from another folder.
    package func forgetOthers() throws(DatabaseError) {
        guard case .tree(let folder) = scope, !folder.utf8.elementsEqual("/".utf8) else { return }
        let inside = Set(try index.folders(below: folder).map { $0.number })
        var batch = ScanBatch(index, now, changed)
        for (number, path) in try index.folders(below: "/") where !inside.contains(number) {
            let known = try KnownFiles(path, index)
            for file in known.present { try batch.add(FilePlace(folder: path, file: file.name), file.gone) }
        }
        try batch.store()
        try Self.finish(index)
    }

    /// Unreadable files may still exist. They are listed again when they can be read.
    private func noteGone(
        _ known: KnownFiles, _ folder: String, _ walk: FolderWalk, _ batch: inout ScanBatch, _ summary: inout Summary
    ) throws(DatabaseError) {
        for file in known.present {
            let place = FilePlace(folder: folder, file: file.name)
            if walk.isUnread(place.path) { continue }
            switch file.gone {
            case .playlistIsGone: summary.playlists += 1
            default: summary.gone += 1
            }
            try batch.add(place, file.gone)
        }
    }

    /// - Returns: nil when nothing has changed.
    private func change(
        _ place: FilePlace, _ stamp: FileStamp, _ known: inout KnownFiles, _ listing: FolderWalk.Listing,
        _ summary: inout Summary
    ) -> ScanBatch.Change? {
        let kind = rules.kind(of: place.file)
        if kind == .playlist {
            let change = playlist(place, stamp, &known)
            if change != nil { summary.playlists += 1 }
            return change
        }
        let row = known.takeTrack(place.file)
        if let row, row.stamp == stamp {
            summary.tracks += 1
            return row.isPresent ? nil : .tracksAreBack
        }
        if failures.haveRefused(place.path, stamp) {
            summary.problems += 1
            if let row { known.putBack(place.file, row) }
            return nil
        }
        do throws(MediaError) {
            let file: ScannedFile
            if kind == .cueSheet {
                file = try ScannedFile(
                    sheet: place, stamp, beside: listing.files.filter { rules.kind(of: $0) == .audio }, in: roots)
            } else {
                file = try ScannedFile(place.path, stamp, readsSheet: rules.readsSheets)
            }
            failures.forget(place.path)
            summary.tracks += 1
            summary.read += 1
            return .tracks(file)
        } catch {
            var isOfContent = kind == .audio
            if case .source = error { isOfContent = false }
            if failures.note(place.path, stamp, "not in the library: \(error.reason)", isOfContent: isOfContent) {
                summary.newProblems += 1
            }
            summary.problems += 1
            // The former content is gone, unless the file merely cannot be read now. Changed permissions change the
            // stamp too.
            if let row, !error.hidesContent { known.putBack(place.file, row) }
            return nil
        }
    }

    private func playlist(
        _ place: FilePlace, _ stamp: FileStamp, _ known: inout KnownFiles
    ) -> ScanBatch.Change? {
        let row = known.takePlaylist(place.file)
        if let row, row.stamp == stamp { return row.isPresent ? nil : .playlistIsBack }
        do throws(SystemError) {
            let bytes = try File.contents(of: place.path, limit: PlaylistFile.mostBytes)
            let folder = place.folder.isEmpty ? "/" : place.folder
            // Playlists other than M3U are XML, or have sections. They are recognised by their content.
            if !ScanRules.isM3U(place.file),
                let playlist = try? PlaylistFile(recognising: bytes, in: folder, musicPath: music.path)
            {
                return .playlist(stamp, playlist)
            }
            let root = music.root ?? scope.folder ?? folder
            return .playlist(stamp, PlaylistFile(parsing: bytes, in: folder, below: root, musicPath: music.path))
        } catch {
            failures.note(place.path, stamp, "not in the library: \(error.reason)")
            if let row, !error.hidesContent { known.putBack(playlist: place.file, row) }
            return nil
        }
    }
}

extension MusicScan.Scope {
    /// The folder; nil for a file.
    fileprivate var folder: String? { if case .tree(let folder) = self { folder } else { nil } }
}

extension MediaError {
    /// Whether a file exists but cannot be read now.
    fileprivate var hidesContent: Bool {
        if case .source(.medium(let error)) = self { error.hidesContent } else { false }
    }
}

extension MusicIndex {
    /// Returns the folders of the index at and below a path. Paths below a folder are between `folder/` and `folder0`,
    /// because `0` follows `/` in order.
    func folders(below folder: String) throws(DatabaseError) -> [(number: Int64, path: String)] {
        let start = FilePlace(folder: folder, file: "").folder
        return try rows(
            "SELECT id, path FROM folder WHERE path = ?1 OR path >= ?1 || '/' AND path < ?1 || '0'", [.text(start)]
        ) { row in row.integer(0).map { ($0, row.text(1) ?? "") } }
    }
}
