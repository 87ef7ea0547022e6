import Platform

/// The files of a folder and its subfolders that the rules name, a folder at a time, in the order of their names.
/// Hidden files are left out. Links are followed only into the music folders, and each folder is visited once.
struct FolderWalk {
    /// The files of one folder, by their names.
    struct Listing {
        /// The path; empty for the folder /.
        var folder: String
        var files: [String]
    }

    private let rules: ScanRules
    /// Folders still to be read, the next one last.
    private var folders: [String]
    /// The file, if the walk has only one file.
    private var file: FilePlace?
    private var visited: Set<Folder.Identity> = []
    /// The files and folders that exist, but could not be read.
    private var unread: Set<PathBytes> = []
    /// The links that lead out of the music folders.
    private(set) var linksOut: [String] = []
    /// The folders into which links are followed; nil to follow all links.
    private let roots: MusicRoots?
    private let failures: ScanFailures
    /// Called with each folder before it is read; returns false to leave it out.
    private let willRead: (String) -> Bool

    init(
        _ scope: MusicScan.Scope, _ rules: ScanRules, in roots: MusicRoots? = nil,
        _ failures: ScanFailures = ScanFailures(), willRead: @escaping (String) -> Bool = { _ in true }
    ) {
        switch scope {
        case .tree(let folder): folders = [folder]
        // A walk of one file finds nothing when the file is gone.
        case .file(let path):
            folders = []
            file = FilePlace(path)
        }
        self.rules = rules
        self.roots = roots
        self.failures = failures
        self.willRead = willRead
    }

    mutating func next() -> Listing? {
        if let place = file {
            file = nil
            switch FileKind(at: place.path) {
            case .file:
                if leadsOut(place.path) { break }
                return Listing(folder: place.folder, files: [place.file])
            case .folder, .other: break
            case nil: noteUnread(place.path)
            }
            return Listing(folder: place.folder, files: [])
        }
        while let folder = folders.popLast() {
            guard let files = read(folder) else { continue }
            return Listing(folder: FilePlace(folder: folder, file: "").folder, files: files)
        }
        return nil
    }

    /// Returns nil when the file is gone, or cannot be read.
    mutating func stamp(of file: String) -> FileStamp? {
        do throws(SystemError) { return try FileStamp(reading: file) } catch {
            if !error.meansNoFile { unread.insert(PathBytes(file)) }
            return nil
        }
    }

    /// Returns whether a path, or a folder above it, could not be read: Such a path may still exist.
    func isUnread(_ path: String) -> Bool {
        if unread.isEmpty { return false }
        var path = path
        while !unread.contains(PathBytes(path)) {
            guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return false }
            path = String(path[..<slash])
        }
        return true
    }

    /// - Parameter path: a path without a known kind.
    private mutating func noteUnread(_ path: String) {
        do throws(SystemError) { _ = try FileStamp(reading: path) } catch {
            guard !error.meansNoFile else { return }
            failures.note(path, nil, "cannot be read: \(error.reason)")
            unread.insert(PathBytes(path))
        }
    }

    /// Returns whether a path leads out of the music folders, and notes it if so.
    private mutating func leadsOut(_ path: String) -> Bool {
        guard let roots, !roots.contain(path) else { return false }
        linksOut.append(path)
        return true
    }

    /// Returns the files of a folder, and adds its folders to those still to be read.
    private mutating func read(_ folder: String) -> [String]? {
        guard let identity = Folder.Identity(of: folder) else {
            noteUnread(folder)
            return nil
        }
        // The first folder may be a link that was created a moment ago.
        if visited.isEmpty, leadsOut(folder) { return nil }
        guard visited.insert(identity).inserted, !Folder.belongsToKernel(folder), willRead(folder) else { return nil }
        let entries: [Folder.Entry]
        do throws(SystemError) {
            entries = try Folder.entries(of: folder) { entry in
                let isOfSystem = entry.kind == .folder && Folder.isOfSystem(name: entry.name)
                return isOfSystem || entry.name.utf8.first == UInt8(ascii: ".") ? .skip : .keep
            }
        } catch {
            failures.note(folder, nil, "cannot be read: \(error.reason)")
            if !error.meansNoFile { unread.insert(PathBytes(folder)) }
            return nil
        }
        failures.forget(folder)
        let parent = FilePlace(folder: folder, file: "").folder
        var files: [String] = []
        for entry in entries.reversed() {
            if entry.mayBeLink, entry.kind == .folder || rules.kind(of: entry.name) != nil,
                leadsOut("\(parent)/\(entry.name)")
            {
                continue
            }
            switch entry.kind {
            case .folder: folders.append("\(parent)/\(entry.name)")
            case .file: if rules.kind(of: entry.name) != nil { files.append(entry.name) }
            case .other: break
            case nil: noteUnread("\(parent)/\(entry.name)")
            }
        }
        return files.reversed()
    }
}
