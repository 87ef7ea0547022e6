import CLinux
import PCM
import Platform

/// A music file in one of its states: it is another version after the file was changed.
public struct MusicFileVersion: Equatable, Sendable {
    /// The absolute path without links, in the form of `FileName`.
    public let path: String
    /// The size in bytes.
    public let size: Int64
    /// The time of the last change, in nanoseconds since 1970.
    public let modified: Int64

    public init(path: String, size: Int64, modified: Int64) {
        self.path = path
        self.size = size
        self.modified = modified
    }

    /// Returns the present version of the file at `path`.
    /// - Throws: ENOENT, EACCES…; EINVAL for anything else than a file.
    public init(at path: String) throws(SystemError) {
        var (size, modified): (Int64, Int64) = (0, 0)
        let resolved = try Folder.resolved(path)
        if FileName.withBytes(of: resolved, { tonearm_version_of_path($0, &size, &modified) }) != 0 {
            throw .last("stat", path)
        }
        self.init(path: resolved, size: size, modified: modified)
    }

    public static func == (one: Self, other: Self) -> Bool {
        one.size == other.size && one.modified == other.modified && one.path.utf8.elementsEqual(other.path.utf8)
    }
}

/// The measured loudness of a version of a file.
public struct FileLoudness: Equatable, Sendable {
    public var file: MusicFileVersion
    /// Without gains for silence, and for a file that is too short.
    public var replayGain: ReplayGain

    public init(_ file: MusicFileVersion, _ replayGain: ReplayGain) {
        self.file = file
        self.replayGain = replayGain
    }
}
