import Media
import Player

/// The files at the paths of a command line.
struct MusicSelection {
    /// A path without music, and the reason.
    struct Problem: Equatable {
        let path: String
        /// The code for scripts; the same codes as in `PlayerError`.
        let code: String
        let message: String
    }

    /// The files in the order to play them.
    private(set) var files: [String] = []
    private(set) var problems: [Problem] = []

    init(_ paths: [String]) {
        for path in paths { add(path) }
    }

    private mutating func add(_ path: String) {
        do throws(MusicProblem) {
            let found = try MusicFolder.contents(of: path)
            for problem in found.problems { add(problem) }
            files += found.files
            if found.files.isEmpty, found.problems.isEmpty {
                let place = MusicFolder.isList(path) ? "playlist" : "folder"
                let message = "\(path): no music in this \(place). Supported: \(AudioFormats.supported)."
                problems.append(Problem(path: path, code: "c1", message: message))
            }
        } catch {
            add(error)
        }
    }

    private mutating func add(_ problem: MusicProblem) {
        problems.append(Problem(path: problem.path, code: problem.code, message: problem.message))
    }
}
