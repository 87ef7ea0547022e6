import Media
import Platform

/// The picture in a folder of music.
package enum FolderPicture {
    /// The names without their endings, in any case. The first one that is there is the cover. MPD has the first one.
    private static let names = ["cover", "folder", "front", "albumart", "album"]
    private static let endings = [".png", ".jpg", ".jpeg", ".webp", ".jxl"]

    /// Returns the path of the cover: a picture by its content. nil when the folder has none, or cannot be read.
    /// - Parameter roots: the cover lies in these folders with all links resolved; nil: links may lead anywhere.
    package static func path(in folder: String, _ roots: MusicRoots?) -> String? {
        let entries: [Folder.Entry]
        do throws(SystemError) {
            entries = try Folder.entries(of: folder) { $0.kind == .file && rank(of: $0.name) != nil ? .keep : .skip }
        } catch {
            return nil
        }
        let ranked = entries.compactMap { entry in rank(of: entry.name).map { (rank: $0, name: entry.name) } }
        for (_, name) in ranked.sorted(by: { $0.rank < $1.rank }) {
            let path = "\(folder)/\(name)"
            if roots?.contain(path) ?? true, kind(of: path) != nil { return path }
        }
        return nil
    }

    /// Returns nil for a file that does not begin like a picture. A name alone proves nothing: on a stick it may be a
    /// link to another file of this machine.
    package static func kind(of path: String) -> PictureKind? {
        let start = [UInt8](unsafeUninitializedCapacity: PictureKind.beginning) { buffer, count in
            guard let file = try? File(reading: path) else { return }
            count = (try? file.read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)) ?? 0
        }
        return PictureKind(start)
    }

    /// Returns nil for a file with another name.
    private static func rank(of name: String) -> Int? {
        let name = name.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
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
