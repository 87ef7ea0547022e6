import CLinux
import Media
import PCM
import Platform

/// One version of a music file. Changing the file makes another version.
public struct MusicFileVersion: Equatable, Sendable {
    /// The absolute path without links, in the form of `FileName`.
    public let path: String
    /// The size in bytes.
    public let size: Int64
    /// The time of the last change, in nanoseconds since 1970.
    public let modified: Int64
    /// Identifies the sound (`AudioIdentity`); 0 while it is not known.
    public private(set) var content: Int64

    public init(path: String, size: Int64, modified: Int64, content: Int64 = 0) {
        self.path = path
        self.size = size
        self.modified = modified
        self.content = content
    }

    /// Returns the present version of the file at `path`.
    /// - Throws: ENOENT, EACCES…; EINVAL when the path is not a file.
    public init(at path: String) throws(SystemError) {
        var (size, modified): (Int64, Int64) = (0, 0)
        let resolved = try Folder.resolved(path)
        if FileName.withBytes(of: resolved, { tonearm_version_of_path($0, &size, &modified) }) != 0 {
            throw .last("stat", path)
        }
        self.init(path: resolved, size: size, modified: modified)
    }

    /// Returns this version with the identity of its sound, if the file can be read.
    /// - Parameter properties: the properties of the file's decoder.
    public func identified(_ properties: AudioProperties, cancellation: Cancellation? = nil) -> Self {
        var file = self
        if let bytes = try? FileByteSource(path: path, cancellation: cancellation) {
            file.content = (try? AudioIdentity.of(bytes, properties)) ?? 0
        }
        return file
    }

    /// Returns whether both are the same version of the same file. The sound may be unknown in one of them.
    public func isSame(as other: Self) -> Bool {
        size == other.size && modified == other.modified && path.utf8.elementsEqual(other.path.utf8)
    }

    public static func == (one: Self, other: Self) -> Bool { one.isSame(as: other) && one.content == other.content }
}

/// The measured loudness of a version of a file.
public struct FileLoudness: Equatable, Sendable {
    public var file: MusicFileVersion
    /// The gains; missing for silence, and for a file that is too short.
    public var replayGain: ReplayGain

    public init(_ file: MusicFileVersion, _ replayGain: ReplayGain) {
        self.file = file
        self.replayGain = replayGain
    }
}

/// The part of a measurement that shows whether files were measured as one album.
public struct KnownLoudness: Equatable, Sendable {
    /// In dB; nil for an album without a gain.
    public var albumGain: Double?

    public init(albumGain: Double?) { self.albumGain = albumGain }
}
