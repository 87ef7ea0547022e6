import CLinux
import Platform

/// Detects which files and folders have changed, by inotify(7), by the mount table, and by requests.
///
/// Thread: one.
package final class FolderWatch {
    /// The changes since the last call of `wait`.
    package struct Changes: Equatable {
        /// Files that were written, moved or removed, or whose attributes changed: their permissions or their time.
        package var files: Set<PathBytes> = []
        /// Folders that were added or removed, and removed names that may have been folders.
        package var trees: Set<PathBytes> = []
        /// Whether everything may have changed: events were lost, or a file system was mounted or unmounted.
        package var isAll = false

        package var isEmpty: Bool { files.isEmpty && trees.isEmpty && !isAll }

        package init(files: Set<PathBytes> = [], trees: Set<PathBytes> = [], isAll: Bool = false) {
            (self.files, self.trees, self.isAll) = (files, trees, isAll)
        }

        /// The changes without files in a folder that is scanned anyway. `chmod -R`, for example, changes the
        /// attributes of every file in it.
        var joined: Changes {
            Changes(
                files: files.filter { !$0.isBelow(trees) }, trees: trees.filter { !$0.isBelow(trees) }, isAll: isAll)
        }
    }

    /// The watched folders, by the numbers of their watches.
    private struct Watches {
        var paths: [Int32: String] = [:]
        /// The folders above the music folders, each with the music folders and the names that lead there.
        var above: [Int32: [(name: String, root: String)]] = [:]
    }

    private static let events =
        UInt32(IN_CLOSE_WRITE) | UInt32(IN_CREATE) | UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM) | UInt32(IN_MOVED_TO)
        | UInt32(IN_ATTRIB) | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF) | UInt32(IN_ONLYDIR)
    /// The events to watch for in a folder above a music folder, in addition to existing ones.
    private static let eventsAbove =
        UInt32(IN_CREATE) | UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM) | UInt32(IN_MOVED_TO) | UInt32(IN_DELETE_SELF)
        | UInt32(IN_MOVE_SELF) | UInt32(IN_ONLYDIR) | UInt32(IN_MASK_ADD)

    private let descriptor: Int32
    private let clock = SystemMonotonicClock()
    private let rules: ScanRules
    private let requests: ScanRequests?
    /// The mount table, because mounting a file system raises no event of the folders that it covers.
    private let mounts: MountTable?
    private var mayHaveMounted = false
    private var watches = Watches()
    /// The files that were created and are not closed yet.
    private var written: Set<PathBytes> = []
    /// Whether all changes are reported. The kernel's limit may be too low (fs.inotify.max_user_watches), a folder may
    /// be unreadable, or another machine may change it.
    package private(set) var isComplete = true
    private var hasReportedLimit = false

    /// - Parameter folders: the music folders, without links and dots; empty when mounts do not matter.
    package init(
        _ rules: ScanRules = .player, requests: ScanRequests? = nil, mountsAround folders: [String] = []
    ) throws(SystemError) {
        self.rules = rules
        self.requests = requests
        mounts = folders.isEmpty ? nil : MountTable(around: folders)
        descriptor = inotify_init1(Int32(O_CLOEXEC) | Int32(O_NONBLOCK))
        if descriptor < 0 { throw .last("watch", "the music folder") }
    }

    deinit { close(descriptor) }

    /// Watches a folder, without its subfolders. Call it before the folder is read, so that no change is missed.
    /// - Returns: false when the folder is already watched under another name.
    package func add(_ folder: String) -> Bool {
        if FileName.withBytes(of: folder, { tonearm_reports_changes($0) }) == 0 { isComplete = false }
        let watch = FileName.withBytes(of: folder) { inotify_add_watch(descriptor, $0, Self.events) }
        if watch >= 0 {
            if let known = watches.paths[watch], !known.utf8.elementsEqual(folder.utf8),
                let identity = Folder.Identity(of: known), identity == Folder.Identity(of: folder)
            {
                return false
            }
            watches.paths[watch] = folder
        } else if tonearm_errno() == ENOSPC || tonearm_errno() == ENOMEM {
            if !hasReportedLimit {
                Log.warning(
                    "not all folders are watched: fs.inotify.max_user_watches is too low; scanned hourly instead")
            }
            hasReportedLimit = true
            isComplete = false
        } else if tonearm_errno() == EACCES {
            // The walk logs the failure. A change of the folder's permissions raises an event only in the folder above
            // it, which may not be watched.
            isComplete = false
        }
        return true
    }

    /// Watches the folders above music folders. If a music folder is renamed, or removed and created again, only the
    /// folder above it has an event. Call it before each scan.
    package func watchAbove(_ folders: [String]) {
        let former = watches.above
        watches.above = [:]
        for folder in folders {
            watchAbove(folder, folder)
            // A music folder may be a link: its target may be renamed too.
            if let target = try? Folder.resolved(folder), !target.utf8.elementsEqual(folder.utf8) {
                watchAbove(target, folder)
            }
        }
        for watch in former.keys where watches.above[watch] == nil && watches.paths[watch] == nil {
            inotify_rm_watch(descriptor, watch)
        }
    }

    /// Watches the nearest existing folder above `path`.
    private func watchAbove(_ path: String, _ root: String) {
        var place = FilePlace(path)
        while !place.file.utf8.isEmpty {
            let folder = place.folder.utf8.isEmpty ? "/" : place.folder
            let watch = FileName.withBytes(of: folder) { inotify_add_watch(descriptor, $0, Self.eventsAbove) }
            if watch >= 0 { watches.above[watch, default: []].append((place.file, root)) }
            // If a folder is missing, the folder above it is watched too.
            if watch >= 0 && FileKind(at: place.path) != nil || place.folder.utf8.isEmpty { return }
            place = FilePlace(place.folder)
        }
    }

    /// Blocks until a change, and then until no further changes follow.
    /// - Parameter milliseconds: the longest wait for the first change, even if other events occur; negative for no
    ///   limit.
    /// - Returns: nil when cancelled; no changes when the time has passed.
    package func wait(milliseconds: Int, _ cancellation: Cancellation) -> Changes? {
        var changes = Changes()
        var group = ChangeGroup(milliseconds: milliseconds, at: clock.now())
        while true {
            switch arrival(until: group.end(at: clock.now()), cancellation) {
            case .cancelled: return nil
            case .timedOut: return changes.joined
            case .ready:
                read(into: &changes)
                if mayHaveMounted, mounts?.hasChanged() == true { changes.isAll = true }
                mayHaveMounted = false
                if let requests {
                    let requested = requests.take()
                    changes.files.formUnion(requested.files)
                    if requested.isAll { changes.isAll = true }
                }
                if group.isOver(hasChanges: !changes.isEmpty, at: clock.now()) { return changes.joined }
            }
        }
    }

    /// Waits for the whole time, even if changes arrive.
    /// - Returns: false when cancelled.
    package func pause(milliseconds: Int, _ cancellation: Cancellation) -> Bool {
        let deadline = ChangeGroup.end(of: milliseconds, from: clock.now())
        while true {
            var waited = pollfd(fd: cancellation.descriptor, events: Int16(POLLIN), revents: 0)
            let left = max(deadline - clock.now(), 0)
            let count = poll(&waited, 1, Int32(clamping: (left + 999_999) / 1_000_000))
            if count > 0 || count < 0 && tonearm_errno() != EINTR { return false }
            if count == 0, clock.now() >= deadline { return true }
        }
    }

    private enum Arrival { case ready, cancelled, timedOut }

    /// Blocks until there is an event or a request.
    /// - Parameter deadline: the end of the wait; nil for no limit.
    private func arrival(until deadline: Int64?, _ cancellation: Cancellation) -> Arrival {
        while true {
            // poll(2) ignores negative descriptors.
            var waited = [cancellation.descriptor, descriptor, requests?.descriptor ?? -1].map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            // The mount table is always readable, so only POLLPRI counts.
            waited.append(pollfd(fd: mounts?.descriptor ?? -1, events: Int16(POLLPRI), revents: 0))
            let left = deadline.map { Int32(clamping: (max($0 - clock.now(), 0) + 999_999) / 1_000_000) } ?? -1
            let count = poll(&waited, nfds_t(waited.count), left)
            if count < 0, tonearm_errno() != EINTR { return .cancelled }
            if count > 0 {
                // The kernel reports a changed mount table only once.
                if waited[3].revents != 0 { mayHaveMounted = true }
                return waited[0].revents != 0 ? .cancelled : .ready
            }
            if count == 0, let deadline, clock.now() >= deadline { return .timedOut }
        }
    }

    private func read(into changes: inout Changes) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = CLinux.read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return }
            var offset = 0
            // An event has wd, mask, cookie and the length of the name, with 4 bytes each. The name follows, padded
            // with NULs.
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
        if has(Int32(IN_Q_OVERFLOW)) || has(Int32(IN_UNMOUNT)) {
            changes.isAll = true
            written = []
        }
        // A later mount at this folder raises no event, so everything is compared hourly from now on.
        if has(Int32(IN_UNMOUNT)) { isComplete = false }
        noteAbove(watch, mask, name, &changes)
        if has(Int32(IN_IGNORED)) { (watches.paths[watch], watches.above[watch]) = (nil, nil) }
        guard let folder = watches.paths[watch] else { return }
        guard let first = name.first else {
            // The event is about the folder itself, and no folder above it may be watched.
            if has(Int32(IN_ATTRIB)) || has(Int32(IN_DELETE_SELF)) || has(Int32(IN_MOVE_SELF)) {
                changes.trees.insert(PathBytes(folder))
            }
            if has(Int32(IN_MOVE_SELF)) { forget(PathBytes(folder)) }
            return
        }
        // Hidden files are not read.
        guard first != UInt8(ascii: ".") else { return }
        let text = name.withUnsafeBufferPointer { FileName.text(of: $0) }
        let path = "\(folder)/\(text)"
        let isFolder = mask & UInt32(IN_ISDIR) != 0
        if isFolder, Folder.isOfSystem(name: text) { return }
        let isRead = !isFolder && rules.kind(of: text) != nil
        // A created file is still being written; its end is another event. A link is complete. A copying program may
        // set a file's attributes before its last byte.
        if has(Int32(IN_CREATE)), !isFolder, !Self.isLink(path) {
            if isRead { written.insert(PathBytes(path)) }
            return
        }
        if has(Int32(IN_ATTRIB)) {
            if written.contains(PathBytes(path)) { return }
        } else {
            written.remove(PathBytes(path))
        }
        if isRead { changes.files.insert(PathBytes(path)) }
        if isFolder || FileKind(at: path) == .folder || FileKind(at: path) == nil {
            changes.trees.insert(PathBytes(path))
        }
    }

    /// Notes the music folders that an event above them concerns.
    private func noteAbove(
        _ watch: Int32, _ mask: UInt32, _ name: ArraySlice<UInt8>, _ changes: inout Changes
    ) {
        guard let roots = watches.above[watch] else { return }
        let isOfFolder = mask & (UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)) != 0
        for root in roots where isOfFolder || root.name.utf8.elementsEqual(name) {
            changes.trees.insert(PathBytes(root.root))
        }
    }

    /// Ends the watches of a renamed folder and its contents, because they would report the former name.
    private func forget(_ folder: PathBytes) {
        for (watch, path) in watches.paths where PathBytes(path).isIn([folder]) {
            watches.paths[watch] = nil
            if watches.above[watch] == nil { inotify_rm_watch(descriptor, watch) }
        }
    }

    /// Returns whether the file at a path has another name, too.
    private static func isLink(_ path: String) -> Bool {
        FileName.withBytes(of: path) { tonearm_has_other_name($0) } != 0
    }
}
