import Manifests
import Media
import Platform

/// The end of the playlist that was changed last: With it, the next entries are appended without reading the file.
///
/// Thread: one that changes playlists. `@unchecked Sendable` is safe because the lock of changes guards `known`, and
/// `counting` guards the cost.
final class PlaylistTail: @unchecked Sendable {
    /// The cost of all reads and changes so far.
    struct Cost: Equatable {
        /// Bytes of files.
        var read = 0
        var written = 0
        /// Files that were synchronised.
        var syncs = 0
        /// Entries that were searched on the medium.
        var lookedUp = 0
    }

    /// A file that ends with a whole line.
    struct Known {
        var path: String
        var stamp: FileStamp
        /// The number of its entries.
        var count: Int
    }

    var known: Known?
    private let counting = Lock()
    private var counted = Cost()

    var cost: Cost { counting.withLock { counted } }

    func note(read: Int = 0, written: Int = 0, syncs: Int = 0, lookedUp: Int = 0) {
        counting.withLock {
            counted.read += read
            counted.written += written
            counted.syncs += syncs
            counted.lookedUp += lookedUp
        }
    }
}

extension PlaylistFolder {
    /// Makes changes that all add entries at the end of a file in UTF-8, by one write at its end.
    /// - Returns: the number of changes that were made, and the reason why the next one failed; nil when the file must
    ///   be rewritten.
    func append(
        _ changes: [PlaylistChange], to name: PlaylistName
    ) throws(PlaylistFailure) -> (count: Int, failure: PlaylistFailure?)? {
        guard changes.allSatisfy({ if case .add(_, at: nil) = $0 { true } else { false } }),
            let target = try path(of: name), let end = try end(of: target)
        else { return nil }
        let folder = try resolved()
        var (made, failure, count, bytes) = (0, PlaylistFailure?.none, end.count, [UInt8]())
        for change in changes {
            guard case .add(let entries, _) = change else { break }
            do throws(PlaylistFailure) {
                if count + entries.count > Self.mostEntries { throw .full(.entries) }
                let lines = try lines(entries, in: folder)
                let size = lines.reduce(bytes.count) { $0 + $1.count + 1 }
                if Int(end.stamp.size) + PlaylistLine.mark(size).count + size > mostBytes { throw .full(.bytes) }
                for line in lines { bytes += line + [UInt8(ascii: "\n")] }
            } catch {
                failure = error
                break
            }
            count += entries.count
            made += 1
        }
        if count > end.count {
            guard try write(PlaylistLine.mark(bytes.count) + bytes, at: end) else { return nil }
            tail.known = FileStamp(of: target).map { PlaylistTail.Known(path: target, stamp: $0, count: count) }
        }
        return (made, failure)
    }

    /// Returns the path of the file of a playlist; nil when there is none, or when it has the ending `.m3u`.
    private func path(of name: PlaylistName) throws(PlaylistFailure) -> String? {
        let exact = path(name.text + StoredPlaylistFile.ending)
        if FileKind(at: exact) == .file { return exact }
        return try file(name).flatMap { $0.isFormer ? nil : path($0.file) }
    }

    /// Returns the end of a file that ends with a whole line of UTF-8; nil for another file.
    private func end(of path: String) throws(PlaylistFailure) -> PlaylistTail.Known? {
        // A link is not appended to, because a change replaces the link itself and not its target.
        guard let stamp = FileStamp(of: path), let target = try? Folder.resolved(path),
            target.utf8.elementsEqual("\(try resolved())/\(FilePlace(path).file)".utf8)
        else { return nil }
        if let known = tail.known, known.path.utf8.elementsEqual(path.utf8), known.stamp == stamp { return known }
        tail.known = nil
        let bytes = try system { () throws(SystemError) in
            try File.contents(of: path, limit: PlaylistFile.mostBytes)
        }
        tail.note(read: bytes.count)
        guard bytes.last == UInt8(ascii: "\n"), PlaylistLine.isUTF8(bytes) else { return nil }
        var count = 0
        PlaylistFile.eachLine(of: bytes, in: folder) { _ in count += 1 }
        return PlaylistTail.Known(path: path, stamp: stamp, count: count)
    }

    /// Power loss here: the file has none, some or all of the lines, and perhaps a torn one, which the next read
    /// removes.
    /// - Returns: false when another program has changed the file meanwhile, or when the file itself cannot be written.
    private func write(_ bytes: [UInt8], at end: PlaylistTail.Known) throws(PlaylistFailure) -> Bool {
        tail.known = nil
        return try system { () throws(SystemError) in
            guard let file = try? File(updating: end.path), try file.length() == end.stamp.size else { return false }
            tail.note(written: bytes.count, syncs: 1)
            let failure = bytes.withUnsafeBytes { bytes -> SystemError? in
                do throws(SystemError) {
                    try file.write(bytes, at: end.stamp.size)
                    try file.synchronize()
                    return nil
                } catch {
                    return error
                }
            }
            guard let failure else { return true }
            // Undoes the write, so that nothing has changed for the caller.
            try? file.truncate(to: end.stamp.size)
            throw failure
        }
    }
}
