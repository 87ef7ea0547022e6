import CLinux
import Library
import Platform

/// The thumbnails on the medium: a folder of the cache, which nothing else uses. The folder is read at the first
/// request, and foreign files in it are removed. Nothing is synced: after a power cut, a torn file is recognised by its
/// length or its check, and made again.
///
/// Thread: any that may block on the medium. `@unchecked Sendable` is safe because `lock` guards the state.
package final class ThumbnailFolder: @unchecked Sendable {
    /// The bytes of the file system that stay free, as for the rest of the cache.
    private static let freeBytes: Int64 = 128 << 20
    /// The minimum number of seconds between two writes of a file's time of use.
    private static let stampSeconds: Int64 = 3600

    private let path: String
    private let limit: Int64
    private let lock = Lock()
    /// The thumbnails in the folder; nil until the folder was read.
    private var shelf: ThumbnailShelf?

    /// - Parameters:
    ///   - path: the folder, which is created when the first thumbnail is written.
    ///   - limit: the maximum size in bytes; 0 stores no thumbnails.
    package init(_ path: String, limit: Int64) { (self.path, self.limit) = (path, limit) }

    /// Returns a thumbnail; nil when there is none, or its file is damaged.
    func thumbnail(for key: ThumbnailKey) -> Thumbnail? {
        guard let entry = withShelf({ $0.use(key) }) else { return nil }
        let file = "\(path)/\(entry.name)"
        if let bytes = try? File.contents(of: file, limit: entry.bytes), bytes.count == entry.bytes,
            let thumbnail = Thumbnail(width: entry.width, height: entry.height, bytes: bytes, side: key.side),
            thumbnail.check == entry.check
        {
            noteUse(of: file)
            return thumbnail
        }
        withShelf { shelf in
            // Another thread may have replaced the thumbnail meanwhile.
            guard let present = shelf.use(key), present == entry else { return }
            shelf.remove(key)
            remove(entry)
        }
        return nil
    }

    /// Stores a thumbnail, if there is room for it.
    func keep(_ thumbnail: Thumbnail, for key: ThumbnailKey) {
        let entry = ThumbnailShelf.Entry(key, thumbnail)
        guard entry.cost <= limit else { return }
        do throws(SystemError) {
            try Folder.create(path, mode: 0o700)
            guard try Folder.freeBytes(at: path) >= Self.freeBytes + entry.cost else { return }
            var file = try FileReplacement(of: "\(path)/\(entry.name)", mode: 0o600)
            var failure: SystemError?
            thumbnail.bytes.withUnsafeBytes { bytes in
                do throws(SystemError) { try file.append(bytes) } catch { failure = error }
            }
            if let failure { throw failure }
            try file.commitWithoutSync()
            // A crash here: the next start finds the file by its name.
            withShelf { for removed in $0.add(entry) { remove(removed) } }
        } catch {
            Log.info("a thumbnail is not kept: \(error)")
        }
    }

    private func withShelf<Result>(_ body: (inout ThumbnailShelf) -> Result) -> Result {
        lock.withLock {
            var present = shelf ?? read()
            defer { shelf = present }
            return body(&present)
        }
    }

    private func remove(_ entry: ThumbnailShelf.Entry) { try? Folder.removeFile("\(path)/\(entry.name)") }

    private func read() -> ThumbnailShelf {
        var shelf = ThumbnailShelf(limit: limit)
        let names = (try? Folder.entries(of: path) { $0.kind == .file ? .keep : .skip }) ?? []
        var found: [(entry: ThumbnailShelf.Entry, used: Int64)] = []
        for name in names.map({ $0.name }) {
            let file = "\(path)/\(name)"
            if let entry = ThumbnailShelf.Entry(name: name), let stamp = FileStamp(of: file),
                stamp.size == Int64(entry.bytes)
            {
                found.append((entry, stamp.modified))
            } else {
                try? Folder.removeFile(file)
            }
        }
        found.sort { $0.used < $1.used }
        for (entry, _) in found { for removed in shelf.add(entry) { remove(removed) } }
        return shelf
    }

    /// Records the time of use as the time of the file's last change.
    private func noteUse(of path: String) {
        guard let modified = Folder.modified(path) else { return }
        let age = SystemTime.clockMilliseconds() / 1000 - modified
        guard !(0..<Self.stampSeconds ~= age), let file = try? File(reading: path) else { return }
        _ = futimens(file.descriptor, nil)
    }
}
