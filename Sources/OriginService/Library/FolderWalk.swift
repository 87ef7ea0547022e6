import Platform

/// A path by its bytes: two spellings of one letter are equal for Swift, and not for file systems.
struct PathBytes: Hashable, Sendable {
    let path: String

    init(_ path: String) { self.path = path }

    static func == (one: Self, other: Self) -> Bool { one.path.utf8.elementsEqual(other.path.utf8) }
    func hash(into hasher: inout Hasher) { for byte in path.utf8 { hasher.combine(byte) } }
}

/// The music files and playlists of a folder and the folders in it, in the order of their names. Hidden ones are left
/// out; a link is followed, and a folder that several lead to is visited once.
struct FolderWalk {
    private var files: [String] = []
    /// Folders still to be read, the next one last.
    private var folders: [String]
    private var visited: Set<Folder.Identity> = []
    /// Called with each folder before it is read; false leaves it out.
    private let willRead: (String) -> Bool

    init(_ folder: String, willRead: @escaping (String) -> Bool = { _ in true }) {
        folders = [folder]
        self.willRead = willRead
    }

    /// A file alone, if it is there.
    init(file: String) {
        files = FileKind(at: file) == .file ? [file] : []
        folders = []
        willRead = { _ in true }
    }

    mutating func next() -> String? {
        while files.isEmpty {
            guard let folder = folders.popLast() else { return nil }
            read(folder)
        }
        return files.removeLast()
    }

    private mutating func read(_ folder: String) {
        guard let identity = Folder.Identity(of: folder), visited.insert(identity).inserted,
            !Folder.belongsToKernel(folder), willRead(folder)
        else { return }
        let entries: [Folder.Entry]
        do throws(SystemError) {
            entries = try Folder.entries(of: folder) { $0.name.utf8.first == UInt8(ascii: ".") ? .skip : .keep }
        } catch {
            Log.warning("\(folder): not served: \(error.reason)")
            return
        }
        for entry in entries.reversed() {
            let path = "\(folder)/\(entry.name)"
            switch entry.kind {
            case .folder: folders.append(path)
            case .file where MusicScan.isMusic(entry.name) || MusicScan.isPlaylist(entry.name): files.append(path)
            case .file, .other, nil: break
            }
        }
    }
}

extension MusicScan {
    /// By the ending of its name.
    static func isMusic(_ name: String) -> Bool { endings.contains(ending(of: name)) }

    static func isPlaylist(_ name: String) -> Bool { playlistEndings.contains(ending(of: name)) }

    private static func ending(of name: String) -> String {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else { return "" }
        return name[name.utf8.index(after: dot)...].lowercased()
    }
}
