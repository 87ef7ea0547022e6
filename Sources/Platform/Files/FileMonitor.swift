import CLinux

/// Reports each change of a file: it was written, replaced or removed (inotify(7)). The kernel reports the changes, so
/// that nothing wakes up otherwise.
///
/// Thread: the loop's.
/// `@unchecked Sendable` is safe because only the loop uses the state.
public final class FileMonitor: @unchecked Sendable {
    private let name: String
    private let loop: EventLoop
    private let descriptor: Int32
    private let changed: () -> Void

    /// - Parameters:
    ///   - path: the path of the file, which may be missing; its folder exists.
    ///   - changed: called after one or more changes.
    /// - Throws: when the folder is missing, or the kernel does not allow this process to watch it.
    public init(_ path: String, loop: EventLoop, changed: @escaping () -> Void) throws(SystemError) {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        name = slash.map { String(path[path.utf8.index(after: $0)...]) } ?? path
        let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        self.loop = loop
        self.changed = changed
        descriptor = FileName.withBytes(of: folder) { tonearm_folder_changes($0) }
        if descriptor < 0 { throw .last("watch", folder) }
        try loop.watch(descriptor, for: .readable) { [self] _ in look() }
    }

    deinit { close(descriptor) }

    /// Stops reporting. Must be the last call.
    public func stop() { loop.unwatch(descriptor) }

    private func look() {
        if FileName.withBytes(of: name, { tonearm_entry_has_changed(descriptor, $0) }) != 0 { changed() }
    }
}
