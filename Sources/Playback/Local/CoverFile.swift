import Platform

/// The picture of an album in a file beside its music: `cover.jpg`, `Folder.png`, `front.jpeg`.
///
/// Thread: any but the audio thread, because the folder is read.
public enum CoverFile {
    /// The most entries of a folder that are read. Folders with more are no albums.
    private static let mostEntries = 10_000
    /// The names, better ones first.
    private static let names: [StaticString] = ["cover", "folder", "front"]
    private static let endings: [StaticString] = [".jpg", ".jpeg", ".png"]

    /// Returns the path of the best picture in a folder, in upper or lower case. nil without one, and for a folder that
    /// cannot be read.
    public static func path(in folder: String) -> String? {
        var room = mostEntries
        var best: (rank: Int, name: String)?
        do throws(SystemError) {
            _ = try Folder.entries(of: folder) { entry in
                room -= 1
                guard room >= 0 else { return .stop }
                // If names differ only in case, the first one by its bytes is used.
                if entry.kind == .file, let rank = rank(of: entry.name),
                    best.map({ rank < $0.rank || rank == $0.rank && isBefore(entry.name, $0.name) }) ?? true
                {
                    best = (rank, entry.name)
                }
                return .skip
            }
        } catch {
            return nil
        }
        return best.map { folder.utf8.last == UInt8(ascii: "/") ? folder + $0.name : "\(folder)/\($0.name)" }
    }

    /// Returns the path of the picture beside a music file, or beside the cue sheet of a track.
    public static func path(beside file: String) -> String? { path(in: Folder.containing(SheetTrack.file(of: file))) }

    private static func isBefore(_ name: String, _ other: String) -> Bool {
        name.utf8.lexicographicallyPrecedes(other.utf8)
    }

    /// Returns the rank of a picture's name; nil for any other name.
    private static func rank(of name: String) -> Int? {
        let lower = name.utf8.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
        for (number, name) in names.enumerated() where name.withUTF8Buffer({ lower.starts(with: $0) }) {
            let rest = lower.dropFirst(name.utf8CodeUnitCount)
            let ending = endings.firstIndex { $0.withUTF8Buffer { rest.elementsEqual($0) } }
            return ending.map { number * endings.count + $0 }
        }
        return nil
    }
}
