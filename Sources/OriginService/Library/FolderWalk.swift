import Platform

/// A path compared by bytes: two spellings of one letter are equal for Swift, but not for file systems.
struct PathBytes: Hashable, Sendable {
    let path: String

    init(_ path: String) { self.path = path }

    static func == (one: Self, other: Self) -> Bool { one.path.utf8.elementsEqual(other.path.utf8) }
    func hash(into hasher: inout Hasher) { for byte in path.utf8 { hasher.combine(byte) } }
}

/// The music files and playlists of a folder and its subfolders, in the order of their names. Hidden ones are left out.
/// Links are followed, but a folder is visited only once.
struct FolderWalk {
    private var files: [String] = []
    /// Folders still to be read, the next one last.
    private var folders: [String]
    private var visited: Set<Folder.Identity> = []
    /// The files and folders that exist, but could not be read.
    private var unread: Set<PathBytes> = []
    /// Called with each folder before it is read; returns false to leave it out.
    private let willRead: (String) -> Bool

    init(_ folder: String, willRead: @escaping (String) -> Bool = { _ in true }) {
        folders = [folder]
        self.willRead = willRead
    }

    /// Makes a walk of a single file, if it is there.
    init(file: String) {
        folders = []
        willRead = { _ in true }
        switch FileKind(at: file) {
        case .file: files = [file]
        case .folder, .other: break
        case nil: noteUnread(file)
        }
    }

    mutating func next() -> String? {
        while files.isEmpty {
            guard let folder = folders.popLast() else { return nil }
            read(folder)
        }
        return files.removeLast()
    }

    /// Returns nil when it is gone, or cannot be read.
    mutating func stamp(of file: String) -> FileStamp? {
        do throws(SystemError) { return try FileStamp(reading: file) } catch {
            if !error.meansNoFile { unread.insert(PathBytes(file)) }
            return nil
        }
    }

    /// Returns whether a path, or a folder above it, could not be read: it is then not known to be gone.
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
            Log.warning("\(path): cannot be read: \(error.reason)")
            unread.insert(PathBytes(path))
        }
    }

    private mutating func read(_ folder: String) {
        guard let identity = Folder.Identity(of: folder) else { return noteUnread(folder) }
        guard visited.insert(identity).inserted,
            !Folder.belongsToKernel(folder), willRead(folder)
        else { return }
        let entries: [Folder.Entry]
        do throws(SystemError) {
            entries = try Folder.entries(of: folder) { entry in
                let isOfSystem = entry.kind == .folder && Folder.isOfSystem(name: entry.name)
                return isOfSystem || entry.name.utf8.first == UInt8(ascii: ".") ? .skip : .keep
            }
        } catch {
            Log.warning("\(folder): cannot be read: \(error.reason)")
            if !error.meansNoFile { unread.insert(PathBytes(folder)) }
            return
        }
        for entry in entries.reversed() {
            let path = "\(folder)/\(entry.name)"
            switch entry.kind {
            case .folder: folders.append(path)
            case .file where MusicScan.isMusic(entry.name) || MusicScan.isPlaylist(entry.name): files.append(path)
            case .file, .other: break
            case nil: noteUnread(path)
            }
        }
    }
}

extension MusicScan {
    /// Whether a name has an ending of music files.
    static func isMusic(_ name: String) -> Bool { endings.contains(ending(of: name)) }

    static func isPlaylist(_ name: String) -> Bool { playlistEndings.contains(ending(of: name)) }

    private static func ending(of name: String) -> String {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else { return "" }
        return name[name.utf8.index(after: dot)...].lowercased()
    }
}
