import Database
import Media
import Platform

/// The cover of music on a disk, by one rule for `tonearm probe`, the page, MPD and the origin: the front cover in the
/// file, else the picture in its folder (docs/playback.md, 17.11). Each of them requests only the parts that it needs.
package enum Cover {
    case embedded(EmbeddedPicture)
    /// The path of a picture.
    case file(String)

    /// The cover of an album: the picture in the first track that has one, else the picture in the folder of the first
    /// track.
    /// - Parameter roots: as in `file(in:_:)`.
    /// - Returns: nil for an album without a cover.
    package init?(ofAlbum id: Int64, _ index: MusicIndex, _ roots: MusicRoots?) throws(DatabaseError) {
        if let picture = try EmbeddedPicture(ofAlbum: id, index) {
            self = .embedded(picture)
            return
        }
        let first = try index.tracks(ofAlbum: id, ListPage(limit: 1)).entries.first
        guard let first, let path = Self.file(in: FilePlace(first.path).folder, roots) else { return nil }
        self = .file(path)
    }

    // MARK: Folders

    /// The names without their endings, in any case. The first existing one is the cover. MPD uses only the first name.
    private static let names = ["cover", "folder", "front", "albumart", "album"]
    private static let endings = [".png", ".jpg", ".jpeg", ".webp", ".jxl"]

    /// Returns the path of the picture in a folder; the file's content must be a picture. If names differ only in case,
    /// returns the first by its bytes. Returns nil when the folder has no picture, or cannot be read.
    /// - Parameters:
    ///   - folder: the path of the folder. The path of a cue sheet stands for its folder.
    ///   - roots: the folders that must contain the picture after all links are resolved; nil if links may lead
    ///     anywhere.
    package static func file(in folder: String, _ roots: MusicRoots?) -> String? {
        let folder = FileKind(at: folder) == .file ? Folder.containing(folder) : folder
        let entries: [Folder.Entry]
        do throws(SystemError) {
            entries = try Folder.entries(of: folder) { $0.kind == .file && rank(of: $0.name) != nil ? .keep : .skip }
        } catch {
            return nil
        }
        let start = folder.utf8.last == UInt8(ascii: "/") ? folder : "\(folder)/"
        // The entries are sorted by their bytes.
        let ranked = entries.enumerated().compactMap { place, entry in
            rank(of: entry.name).map { (rank: $0 * entries.count + place, name: entry.name) }
        }
        for (_, name) in ranked.sorted(by: { $0.rank < $1.rank }) {
            if roots?.contain(start + name) ?? true, kind(of: start + name) != nil { return start + name }
        }
        return nil
    }

    /// Returns nil for a file that does not begin like a picture. A name proves nothing, because on a stick it may be a
    /// link to another file of this machine.
    package static func kind(of path: String) -> PictureKind? {
        let start = [UInt8](unsafeUninitializedCapacity: PictureKind.beginning) { buffer, count in
            guard let file = try? File(reading: path) else { return }
            count = (try? file.read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)) ?? 0
        }
        return PictureKind(start)
    }

    /// Returns the index of the name in `names`; nil for any other name.
    private static func rank(of name: String) -> Int? {
        let name = name.utf8.map { $0.lowercased }
        var rank = 0
        for cover in names {
            for ending in endings {
                if name.elementsEqual((cover + ending).utf8) { return rank }
                rank += 1
            }
        }
        return nil
    }
}
