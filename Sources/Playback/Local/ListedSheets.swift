import Manifests
import Media
import Platform

/// The cue sheets of a listed folder, and the music files that their tracks replace.
struct ListedSheets {
    /// The tracks of each sheet, by its path.
    private var tracks: [(sheet: String, tracks: [String])] = []
    private var files: Set<Folder.Identity> = []

    /// Reads a sheet. Each of its problems is noted once.
    mutating func read(_ path: String, _ cancellation: Cancellation?, _ contents: inout MusicFolder.Contents) {
        do throws(MusicProblem) {
            let listed = try SheetTracks(try SheetFile(at: path, cancellation: cancellation))
            for problem in listed.problems { contents.skip(problem) }
            let found = listed.files.compactMap { Folder.Identity(of: $0) }
            // Ignores a second sheet for the same files, which some programs write.
            if found.allSatisfy({ files.contains($0) }) { return }
            files.formUnion(found)
            tracks.append((path, listed.paths))
        } catch {
            contents.skip(error)
        }
    }

    var isEmpty: Bool { tracks.isEmpty }

    func tracks(of sheet: String) -> [String] {
        tracks.first { $0.sheet.utf8.elementsEqual(sheet.utf8) }?.tracks ?? []
    }

    /// Returns whether the tracks of a sheet replace this file.
    func have(_ file: String) -> Bool {
        if files.isEmpty { return false }
        return Folder.Identity(of: file).map { files.contains($0) } ?? false
    }
}

/// The tracks of a sheet whose music files exist.
struct SheetTracks {
    private(set) var paths: [String] = []
    /// The music files of these tracks.
    private(set) var files: [String] = []
    /// The problems: one for each missing file.
    private(set) var problems: [MusicProblem] = []

    init(_ file: SheetFile) throws(MusicProblem) {
        var isThere: [Bool] = []
        for index in file.sheet.files.indices {
            guard file.sheet.tracks.contains(where: { $0.isPlayed && $0.place?.file == index }) else {
                isThere.append(false)
                continue
            }
            do throws(MusicProblem) {
                files.append(try file.music(index))
                isThere.append(true)
            } catch {
                problems.append(error)
                isThere.append(false)
            }
        }
        for (index, track) in file.sheet.tracks.enumerated() where track.isPlayed {
            guard let place = track.place, isThere[place.file] else { continue }
            paths.append(SheetTrack(index + 1, of: file.path).path)
        }
        if paths.isEmpty, let problem = problems.first { throw problem }
    }
}

extension MusicFolder {
    /// Adds the tracks of a cue sheet, or of the sheet inside of a file.
    mutating func addTracks(of path: String) throws(Stop) {
        let listed: SheetTracks
        do throws(MusicProblem) {
            listed = try SheetTracks(try SheetFile(at: path, cancellation: cancellation))
        } catch {
            try check()
            return contents.skip(error)
        }
        for problem in listed.problems { contents.skip(problem) }
        noteMedium(of: path)
        for path in listed.paths { try append(path) }
    }

    /// Adds one track of a sheet.
    mutating func add(_ track: SheetTrack) throws(Stop) {
        do throws(MusicProblem) {
            let file = try SheetFile(at: track.sheet, cancellation: cancellation)
            _ = try file.music(try SheetStretch(track.number, of: file).file)
        } catch {
            try check()
            return contents.skip(error)
        }
        noteMedium(of: track.sheet)
        try append(track.path)
    }
}
