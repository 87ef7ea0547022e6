import CLinux
import Manifests
import Media
import Platform

/// Finds the music at paths: files, folders with all their contents, playlists and cue sheets.
///
/// The paths that are added to one `MusicFolder` are one request: each folder is visited once (by device and inode),
/// also when several names or links lead to it, and all files are counted together. Any thread.
public struct MusicFolder {
    /// Why a search ended early. Its results are incomplete and are not used.
    public enum Stop: Error, Equatable, Sendable {
        case cancelled
        /// There are more files than the limit.
        case tooMany(limit: Int)
        /// The path itself cannot be read.
        case unreadable(SystemError)
        /// The path is a folder of the kernel: /proc, /sys, /dev.
        case kernelFolder(String)
    }

    /// The music and the problems that were found.
    public struct Contents: Equatable, Sendable {
        /// Paths in the order to play them: by name, where digits count as numbers (`2.flac` before `10.flac`), or by
        /// the numbers in the tags (`TaggedOrder`). The files of a folder come before those of its subfolders. Tracks
        /// of cue sheets are named by `SheetTrack`.
        public var files: [String] = []
        /// Folders that cannot be read, broken links, and entries of playlists and cue sheets without music. The search
        /// continues without them.
        public var problems: [MusicProblem] = []
        /// The number of all problems: `problems` has only the first 1000.
        public var problemCount = 0
        /// The mount points that the files lie on, without the root file system.
        public var mountPoints: [String] = []

        public init() {}

        /// - Parameter count: the number of entries with this problem.
        mutating func skip(_ problem: MusicProblem, count: Int = 1) {
            problemCount += count
            if problems.count < 1000 { problems.append(problem) }
        }
    }

    /// The depth limit of folders: deeper than any collection.
    private static let depthLimit = 32

    public internal(set) var contents = Contents()
    /// How many folders were read.
    private(set) var folderCount = 0
    /// The playlists that were read.
    var playlists: PlaylistsRead
    let cancellation: Cancellation?
    private let limit: Int
    /// Whether playlists and cue sheets are ignored, so that the files of a sheet are found themselves.
    private let findsFilesAlone: Bool
    private var visited: Set<Folder.Identity> = []
    /// Whether a folder had more files than there was room for, and was not read to its end.
    private var isFull = false
    /// The folder of the last noted file. The next file is often in the same folder.
    private var notedFolder = ""
    private var taggedOrder: TaggedOrder

    /// - Parameters:
    ///   - limit: the maximum number of files of the whole search.
    ///   - cancellation: ends the search.
    ///   - findsFilesAlone: whether to pass over playlists and cue sheets. The files of a sheet are then found
    ///     themselves.
    ///   - musicPath: as for `PlaylistEntry.MusicPath`.
    public init(
        limit: Int = .max, cancellation: Cancellation? = nil, findsFilesAlone: Bool = false,
        musicPath: @escaping PlaylistEntry.MusicPath = { _ in nil }
    ) {
        self.limit = limit
        self.findsFilesAlone = findsFilesAlone
        self.cancellation = cancellation
        playlists = PlaylistsRead(musicPath: musicPath)
        taggedOrder = TaggedOrder(cancellation)
    }

    /// Returns the music at `path`, as `add` finds it.
    public static func contents(of path: String) throws(MusicProblem) -> Contents {
        var search = MusicFolder()
        do throws(Stop) { try search.add(path) } catch {
            switch error {
            case .unreadable(let error): throw MusicProblem(error, at: path)
            case .kernelFolder, .cancelled, .tooMany: break
            }
        }
        return search.contents
    }

    /// Adds the music at `path`: a file itself, with any name; the files below a folder whose names have the ending of
    /// audio; the tracks of a cue sheet; the entries of a playlist. Names that begin with a dot, and folders of
    /// operating systems (`Folder.isOfSystem`), are left out. `album.flac/` stands for the tracks of the cue sheet
    /// inside of that file. The address of a product of the content service, or of a file on a web server, stays as it
    /// is.
    public mutating func add(_ path: String) throws(Stop) {
        if findsFilesAlone, ServiceAddress.isMeant(by: path) || Self.isList(path) { return }
        if ServiceAddress.isMeant(by: path) { return try append(path) }
        if WebFileAddress.isMeant(by: path) { return try addAddress(path) }
        try add(path, inside: [])
    }

    /// Whether a path stands for other files: a playlist, a cue sheet, or a track of one.
    public static func isList(_ path: String) -> Bool {
        if WebFileAddress.isMeant(by: path) { return false }
        return switch MusicFileKind(name: path) {
        case .cueSheet, .playlist: true
        case .audio, nil: SheetTrack(path) != nil || isFileWithSlash(path)
        }
    }

    private static func isFileWithSlash(_ path: String) -> Bool {
        path.utf8.last == UInt8(ascii: "/") && FileKind(at: withoutSlashes(path)) == .file
    }

    private mutating func addAddress(_ text: String) throws(Stop) {
        guard let address = WebFileAddress(text) else {
            return contents.skip(MusicProblem(text, "an address without a host."))
        }
        if let reason = address.refusal { return contents.skip(MusicProblem(address.shown, reason)) }
        try append(text)
    }

    /// - Parameter outer: the playlists that lead to `path`.
    mutating func add(_ path: String, inside outer: [OpenPlaylist]) throws(Stop) {
        if let track = SheetTrack(path) { return try add(track) }
        if Self.isFileWithSlash(path) { return try addTracks(of: Self.withoutSlashes(path)) }
        switch FileKind(at: path) {
        case nil: throw .unreadable(SystemError.last("open", path))
        case .file, .other:
            switch MusicFileKind(name: path) {
            case .cueSheet: try addTracks(of: path)
            case .playlist: try addPlaylist(path, inside: outer)
            case .audio, nil:
                noteMedium(of: path)
                try append(path)
            }
        case .folder: try addFolder(path)
        }
    }

    private mutating func addFolder(_ path: String) throws(Stop) {
        if Folder.belongsToKernel(path) { throw .kernelFolder(path) }
        guard let identity = Folder.Identity(of: path), visited.insert(identity).inserted else { return }
        let count = contents.files.count
        do throws(SystemError) { collect(try entries(of: path), in: path, identity, depth: 0) } catch {
            throw .unreadable(error)
        }
        if contents.files.count > count { note(MountPoint.containing(path)) }
        try check()
    }

    /// Whether `path` is a folder that was visited already.
    public func hasVisited(_ path: String) -> Bool { Folder.Identity(of: path).map { visited.contains($0) } ?? false }

    private var isCancelled: Bool { cancellation?.isCancelled ?? false }

    func check() throws(Stop) {
        if isCancelled { throw .cancelled }
        if isFull || contents.files.count > limit { throw .tooMany(limit: limit) }
    }

    mutating func append(_ file: String) throws(Stop) {
        contents.files.append(file)
        try check()
    }

    /// The entries of a folder that may be music, in the order to play them. Ends early when the search ends.
    private mutating func entries(of path: String) throws(SystemError) -> [Folder.Entry] {
        folderCount += 1
        let cancellation = cancellation
        var room = limit - contents.files.count
        let keepsSheets = !findsFilesAlone
        let entries = try Folder.entries(of: path) { entry in
            if room < 0 || cancellation?.isCancelled == true { return .stop }
            if entry.name.utf8.first == UInt8(ascii: ".") { return .skip }
            if entry.kind == .folder { return Folder.isOfSystem(name: entry.name) ? .skip : .keep }
            switch MusicFileKind(name: entry.name) {
            case .audio: if entry.kind == .file { room -= 1 }
            case .cueSheet: if !keepsSheets { return .skip }
            case .playlist, nil: return .skip
            }
            return .keep
        }
        if room < 0 { isFull = true }
        let names = entries.map { $0.kind == .folder ? NaturalName(folder: $0.name) : NaturalName($0.name) }
        return names.indices.sorted { names[$0] < names[$1] }.map { entries[$0] }
    }

    private mutating func note(_ mountPoint: String?) {
        if let mountPoint, !contents.mountPoints.contains(mountPoint) { contents.mountPoints.append(mountPoint) }
    }

    mutating func noteMedium(of file: String) {
        let folder = Folder.containing(file)
        if folder.utf8.elementsEqual(notedFolder.utf8) { return }
        notedFolder = folder
        note(MountPoint.containing(folder))
    }

    private mutating func collect(
        _ entries: [Folder.Entry], in path: String, _ identity: Folder.Identity, depth: Int
    ) {
        var sheets = ListedSheets()
        for entry in entries where entry.kind == .file && MusicFileKind(name: entry.name) == .cueSheet {
            if isCancelled { return }
            sheets.read(Self.join(path, entry.name), cancellation, &contents)
        }
        let start = contents.files.count
        for entry in entries where entry.kind != .folder {
            let file = Self.join(path, entry.name)
            switch entry.kind {
            case .file:
                if MusicFileKind(name: entry.name) == .cueSheet {
                    contents.files += sheets.tracks(of: file)
                } else if !sheets.have(file) {
                    contents.files.append(file)
                }
            case nil: contents.skip(MusicProblem(SystemError(code: ENOENT, operation: "open", subject: file), at: file))
            case .folder, .other: break
            }
        }
        if sheets.isEmpty, !isFull, contents.files.count <= limit {
            contents.files[start...] = taggedOrder.sorted(contents.files[start...])[...]
        }
        guard depth < Self.depthLimit else { return }
        for entry in entries where entry.kind == .folder {
            if isCancelled || isFull || contents.files.count > limit { return }
            let folder = Self.join(path, entry.name)
            guard !Folder.belongsToKernel(folder), let inner = Folder.Identity(of: folder),
                visited.insert(inner).inserted
            else { continue }
            let count = contents.files.count
            do throws(SystemError) {
                collect(try self.entries(of: folder), in: folder, inner, depth: depth + 1)
                if contents.files.count > count, !inner.isOnSameDevice(as: identity) { note(folder) }
            } catch {
                contents.skip(MusicProblem(error, at: folder))
            }
        }
    }

    private static func join(_ folder: String, _ name: String) -> String {
        folder.utf8.last == UInt8(ascii: "/") ? "\(folder)\(name)" : "\(folder)/\(name)"
    }

    private static func withoutSlashes(_ path: String) -> String {
        let bytes = Array(path.utf8)
        guard let last = bytes.lastIndex(where: { $0 != UInt8(ascii: "/") }) else { return path }
        return last == bytes.count - 1 ? path : String(decoding: bytes[...last], as: UTF8.self)
    }
}
