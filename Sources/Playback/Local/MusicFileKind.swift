import Manifests
import Media
import Platform

/// The kind of a file with music, by the ending of its name.
enum MusicFileKind {
    case audio, cueSheet, playlist

    private static let audioEndings = Set(AudioFormats.fileNameEndings)
    private static let playlistEndings = Set(PlaylistFile.fileNameEndings)

    /// Returns nil for any other file.
    /// - Parameter name: a name, or a path.
    init?(name: String) {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else { return nil }
        let ending = name.utf8[name.utf8.index(after: dot)...]
        // A longer ending is none of the known ones. An ending with a slash is part of a folder's name.
        guard ending.count <= 5, !ending.contains(UInt8(ascii: "/")) else { return nil }
        let text = String(decoding: ending.map { $0.lowercased }, as: UTF8.self)
        if Self.audioEndings.contains(text) {
            self = .audio
        } else if text.utf8.elementsEqual("cue".utf8) {
            self = .cueSheet
        } else if Self.playlistEndings.contains(text) {
            self = .playlist
        } else {
            return nil
        }
    }
}
