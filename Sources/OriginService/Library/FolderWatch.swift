import Glibc
import Platform

/// Tells which files and folders have changed, by inotify(7).
///
/// Thread: one.
final class FolderWatch {
    /// What has changed since the last time.
    struct Changes: Equatable {
        /// Files that were written, moved or removed.
        var files: Set<PathBytes> = []
        /// Folders that came or went; also names that may have been folders.
        var trees: Set<PathBytes> = []
        /// Events were lost: everything may have changed.
        var isAll = false

        var isEmpty: Bool { files.isEmpty && trees.isEmpty && !isAll }
    }

    private static let events =
        UInt32(IN_CLOSE_WRITE) | UInt32(IN_CREATE) | UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM) | UInt32(IN_MOVED_TO)
        | UInt32(IN_ONLYDIR)

    /// Changes come in groups: an album is copied, a file gets tags. In milliseconds.
    private static let quietTime = 500
    /// However long a group lasts. In nanoseconds.
    private static let longestGroup: Int64 = 10_000_000_000

    private let descriptor: Int32
    private let clock = SystemMonotonicClock()
    private var paths: [Int32: String] = [:]
    /// Whether all folders are watched. The kernel's limit may be too low (fs.inotify.max_user_watches).
    private(set) var isComplete = true

    init() throws(SystemError) {
        descriptor = inotify_init1(Int32(O_CLOEXEC) | Int32(O_NONBLOCK))
        if descriptor < 0 { throw .last("watch", "the music folder") }
    }

    deinit { close(descriptor) }

    /// Watches a folder, without those in it. Call it before the folder is read, so that no change falls between.
    /// - Returns: false when it is watched by another name already.
    func add(_ folder: String) -> Bool {
        let watch = FileName.withBytes(of: folder) { inotify_add_watch(descriptor, $0, Self.events) }
        if watch >= 0 {
            if let known = paths[watch], !known.utf8.elementsEqual(folder.utf8),
                let identity = Folder.Identity(of: known), identity == Folder.Identity(of: folder)
            {
                return false
            }
            paths[watch] = folder
        } else if errno == ENOSPC || errno == ENOMEM {
            if isComplete {
                Log.warning(
                    "not all folders are watched: fs.inotify.max_user_watches is too low; scanned hourly instead")
            }
            isComplete = false
        }
        return true
    }

    /// Blocks until something has changed, and then until it is quiet.
    /// - Parameter milliseconds: how long it waits at most for the first change; less than 0: without limit.
    /// - Returns: nil when cancelled; no changes when the time is over.
    func wait(milliseconds: Int, _ cancellation: Cancellation) -> Changes? {
        var changes = Changes()
        var deadline: Int64?
        while true {
            let patience = deadline == nil ? milliseconds : Self.quietTime
            let outcome: Cancellation.Outcome
            do throws(SystemError) {
                outcome = try cancellation.wait(for: descriptor, .readable, milliseconds: patience)
            } catch {
                return nil
            }
            switch outcome {
            case .cancelled: return nil
            case .timedOut: return changes
            case .ready:
                read(into: &changes)
                let now = clock.now()
                if changes.isEmpty { continue }
                if let deadline, now >= deadline { return changes }
                deadline = deadline ?? now + Self.longestGroup
            }
        }
    }

    private func read(into changes: inout Changes) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return }
            var offset = 0
            // wd, mask, cookie and the length of the name, with 4 bytes each, and the name with NULs behind it.
            while offset + 16 <= count {
                let (watch, mask, length) = buffer.withUnsafeBytes { bytes in
                    (
                        bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self),
                        bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self),
                        Int(bytes.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
                    )
                }
                let name = buffer[(offset + 16)..<min(count, offset + 16 + length)].prefix { $0 != 0 }
                note(watch, mask, name, &changes)
                offset += 16 + length
            }
        }
    }

    private func note(_ watch: Int32, _ mask: UInt32, _ name: ArraySlice<UInt8>, _ changes: inout Changes) {
        func has(_ event: Int32) -> Bool { mask & UInt32(bitPattern: event) != 0 }
        if has(Int32(IN_Q_OVERFLOW)) || has(Int32(IN_UNMOUNT)) { changes.isAll = true }
        // A file system that is mounted there later raises no event: from now on everything is compared hourly.
        if has(Int32(IN_UNMOUNT)) { isComplete = false }
        if has(Int32(IN_IGNORED)) { paths[watch] = nil }
        // Hidden ones are not served.
        guard let folder = paths[watch], let first = name.first, first != UInt8(ascii: ".") else { return }
        let text = name.withUnsafeBufferPointer { FileName.text(of: $0) }
        let path = "\(folder)/\(text)"
        let isFolder = mask & UInt32(IN_ISDIR) != 0
        // A file that was created is still written; the end of that is another event. A link is complete.
        if has(Int32(IN_CREATE)), !isFolder, !Self.isLink(path) { return }
        if !isFolder, MusicScan.isMusic(text) || MusicScan.isPlaylist(text) { changes.files.insert(PathBytes(path)) }
        if isFolder || FileKind(at: path) == .folder || FileKind(at: path) == nil {
            changes.trees.insert(PathBytes(path))
        }
    }

    /// Whether a name leads to something that has another name, too.
    private static func isLink(_ path: String) -> Bool {
        var status = stat()
        guard FileName.withBytes(of: path, { lstat($0, &status) }) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFLNK || status.st_nlink > 1
    }
}
