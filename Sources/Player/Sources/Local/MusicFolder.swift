import CLinux
import Media
import Platform

/// Finds the music at paths: files, and folders with all their contents.
///
/// The paths that are added to one `MusicFolder` are one request: each folder is visited once (by device and inode),
/// also when several names or links lead to it, and all files are counted together. Any thread.
public struct MusicFolder {
    /// Why a search ended early. Its results are not complete and not used.
    public enum Stop: Error, Equatable, Sendable {
        case cancelled
        /// There are more files than the limit.
        case tooMany(limit: Int)
        /// The path itself cannot be read.
        case unreadable(SystemError)
        /// The path is a folder of the kernel: /proc, /sys, /dev.
        case kernelFolder(String)
    }

    /// What was found.
    public struct Contents: Equatable, Sendable {
        /// Paths in the order to play them: by name, where digits count as numbers (`2.flac` before `10.flac`). The
        /// files of a folder come before those of its subfolders.
        public var files: [String] = []
        /// Folders that cannot be read, and broken links (ENOENT). The search continues without them.
        public var unreadable: [SystemError] = []
        /// The number of all of them: `unreadable` has only the first 1000.
        public var unreadableCount = 0
        /// The mount points that the files lie on, without the root file system.
        public var mountPoints: [String] = []

        public init() {}

        mutating func skip(_ error: SystemError) {
            unreadableCount += 1
            if unreadable.count < 1000 { unreadable.append(error) }
        }
    }

    private static let extensions = Set(AudioFormats.fileNameEndings)
    /// Deeper than any collection.
    private static let depthLimit = 32

    public private(set) var contents = Contents()
    /// How many folders were read.
    private(set) var folderCount = 0
    private let limit: Int
    private let cancellation: Cancellation?
    private var visited: Set<Folder.Identity> = []

    /// - Parameters:
    ///   - limit: the most files, in all.
    ///   - cancellation: ends the search.
    public init(limit: Int = .max, cancellation: Cancellation? = nil) {
        self.limit = limit
        self.cancellation = cancellation
    }

    /// The audio files at `path`: a file itself, with any name, or the files below a folder whose names have the
    /// extension of audio. Names that begin with a dot, and folders of operating systems (`Folder.isOfSystem`), are
    /// left out.
    public static func contents(of path: String) throws(SystemError) -> Contents {
        var search = MusicFolder()
        do throws(Stop) { try search.add(path) } catch {
            switch error {
            case .unreadable(let error): throw error
            case .kernelFolder, .cancelled, .tooMany: break
            }
        }
        return search.contents
    }

    /// Adds the audio files at `path`: a file itself, with any name, or the files below a folder whose names have
    /// the extension of audio. Names that begin with a dot are left out. The address of a product of the content
    /// service stays as it is.
    public mutating func add(_ path: String) throws(Stop) {
        if ServiceAddress.isMeant(by: path) { return try append(path) }
        switch FileKind(at: path) {
        case nil: throw .unreadable(SystemError.last("open", path))
        case .file, .other:
            note(MountPoint.containing(Folder.containing(path)))
            try append(path)
        case .folder:
            if Folder.belongsToKernel(path) { throw .kernelFolder(path) }
            guard let identity = Folder.Identity(of: path), visited.insert(identity).inserted else { return }
            let count = contents.files.count
            do throws(SystemError) { collect(try entries(of: path), in: path, identity, depth: 0) } catch {
                throw .unreadable(error)
            }
            if contents.files.count > count { note(MountPoint.containing(path)) }
            try check()
        }
    }

    /// Whether `path` is a folder that was visited already.
    public func hasVisited(_ path: String) -> Bool { Folder.Identity(of: path).map { visited.contains($0) } ?? false }

    private var isCancelled: Bool { cancellation?.isCancelled ?? false }

    private func check() throws(Stop) {
        if isCancelled { throw .cancelled }
        if contents.files.count > limit { throw .tooMany(limit: limit) }
    }

    private mutating func append(_ file: String) throws(Stop) {
        contents.files.append(file)
        try check()
    }

    /// The entries of a folder that may be music, in the order to play them. Ends early when the search ends.
    private mutating func entries(of path: String) throws(SystemError) -> [Folder.Entry] {
        folderCount += 1
        let cancellation = cancellation
        var room = limit - contents.files.count
        let entries = try Folder.entries(of: path) { entry in
            if room < 0 || cancellation?.isCancelled == true { return .stop }
            if entry.name.utf8.first == UInt8(ascii: ".") { return .skip }
            if entry.kind == .folder { return Folder.isOfSystem(name: entry.name) ? .skip : .keep }
            guard Self.isAudio(entry.name) else { return .skip }
            if entry.kind == .file { room -= 1 }
            return .keep
        }
        let names = entries.map { $0.kind == .folder ? NaturalName(folder: $0.name) : NaturalName($0.name) }
        return names.indices.sorted { names[$0] < names[$1] }.map { entries[$0] }
    }

    private mutating func note(_ mountPoint: String?) {
        if let mountPoint, !contents.mountPoints.contains(mountPoint) { contents.mountPoints.append(mountPoint) }
    }

    private mutating func collect(
        _ entries: [Folder.Entry], in path: String, _ identity: Folder.Identity, depth: Int
    ) {
        for entry in entries where entry.kind != .folder {
            let file = Self.join(path, entry.name)
            switch entry.kind {
            case .file: contents.files.append(file)
            case nil: contents.skip(SystemError(code: ENOENT, operation: "open", subject: file))
            case .folder, .other: break
            }
        }
        guard depth < Self.depthLimit else { return }
        for entry in entries where entry.kind == .folder {
            if isCancelled || contents.files.count > limit { return }
            let folder = Self.join(path, entry.name)
            guard !Folder.belongsToKernel(folder), let inner = Folder.Identity(of: folder),
                visited.insert(inner).inserted
            else { continue }
            let count = contents.files.count
            do throws(SystemError) {
                collect(try self.entries(of: folder), in: folder, inner, depth: depth + 1)
                if contents.files.count > count, !inner.isOnSameDevice(as: identity) { note(folder) }
            } catch {
                contents.skip(error)
            }
        }
    }

    private static func join(_ folder: String, _ name: String) -> String {
        folder.utf8.last == UInt8(ascii: "/") ? "\(folder)\(name)" : "\(folder)/\(name)"
    }

    private static func isAudio(_ name: String) -> Bool {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else { return false }
        let ending = name.utf8[name.utf8.index(after: dot)...].map { $0 | 0x20 }
        return extensions.contains(String(decoding: ending, as: UTF8.self))
    }
}
