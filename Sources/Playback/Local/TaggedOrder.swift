import Media
import Platform

/// The order of an album's files by the numbers in their tags, for a folder whose file names have no numbers
/// (docs/playback.md, 17.2).
///
/// Tags are read only where they can decide: in a folder of few files, until a file contradicts the order.
struct TaggedOrder {
    /// A folder with more files is no album, and takes long to read.
    static let mostFiles = 200

    private struct Place: Comparable {
        let disc: Int
        let track: Int

        static func < (left: Place, right: Place) -> Bool { (left.disc, left.track) < (right.disc, right.track) }
    }

    private let cancellation: Cancellation?
    /// How many files may still be opened in this search: each costs a few milliseconds of a slow medium.
    private var budget: Int

    init(_ cancellation: Cancellation?, budget: Int = 1000) {
        self.cancellation = cancellation
        self.budget = budget
    }

    /// - Parameter files: the files of one folder, by name.
    /// - Returns: the same files by disc and track, if they are one album and each has its own number; else `files`.
    mutating func sorted(_ files: ArraySlice<String>) -> [String] {
        guard files.count > 1, files.count <= min(Self.mostFiles, budget), !files.allSatisfy({ Self.hasNumber($0) })
        else { return Array(files) }
        var album: String?
        var places: [(place: Place, file: String)] = []
        for file in files {
            budget -= 1
            guard let tags = tags(of: file), let title = tags.album, let track = tags.trackNumber,
                album?.utf8.elementsEqual(title.utf8) ?? true
            else { return Array(files) }
            album = title
            places.append((Place(disc: tags.discNumber ?? 1, track: track), file))
        }
        places.sort { $0.place < $1.place }
        for index in 1..<places.count where places[index - 1].place == places[index].place { return Array(files) }
        return places.map { $0.file }
    }

    /// Whether the name begins with a number.
    private static func hasNumber(_ path: String) -> Bool {
        let name = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8[$0...].dropFirst() } ?? path.utf8[...]
        return name.first.map { (0x30...0x39).contains($0) } ?? false
    }

    /// Returns nil for a file that cannot be read, or is not audio.
    private func tags(of file: String) -> TrackMetadata? {
        guard let source = try? FileByteSource(path: file, cancellation: cancellation),
            let decoder = try? AudioFile.open(source, cancellation: cancellation)
        else { return nil }
        return decoder.metadata
    }
}
