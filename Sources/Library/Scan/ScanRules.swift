import Manifests
import Media
import Platform

/// The rules that select the files of the music folders to read.
package struct ScanRules: Equatable, Sendable {
    package enum Kind: Equatable, Sendable { case audio, playlist, cueSheet }

    /// The endings of names, in lower case.
    package var audioEndings: [String]
    package var playlistEndings: [String]
    /// Whether the tracks of cue sheets are listed instead of their files.
    package var readsSheets: Bool
    /// Whether links in a music folder are followed to any folder, and not only into music folders.
    package var followsAllLinks: Bool

    package init(
        audioEndings: [String], playlistEndings: [String], readsSheets: Bool, followsAllLinks: Bool = false
    ) {
        self.audioEndings = audioEndings
        self.playlistEndings = playlistEndings
        self.readsSheets = readsSheets
        self.followsAllLinks = followsAllLinks
    }

    /// Everything that the player plays.
    package static let player = ScanRules(
        audioEndings: AudioFormats.fileNameEndings, playlistEndings: PlaylistFile.fileNameEndings, readsSheets: true)

    /// Returns the kind of a file by the ending of its name; nil for any other file.
    package func kind(of name: String) -> Kind? {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else { return nil }
        let ending = name.utf8[name.utf8.index(after: dot)...]
        guard ending.count <= 5 else { return nil }
        let letters = ending.map { $0.lowercased }
        if audioEndings.contains(where: { $0.utf8.elementsEqual(letters) }) { return .audio }
        if playlistEndings.contains(where: { $0.utf8.elementsEqual(letters) }) { return .playlist }
        return readsSheets && letters.elementsEqual("cue".utf8) ? .cueSheet : nil
    }

    /// Returns whether the name of a playlist ends in `m3u` or `m3u8`.
    static func isM3U(_ name: String) -> Bool {
        let letters = name.utf8.suffix(5).map { $0.lowercased }
        return letters.suffix(4).elementsEqual(".m3u".utf8) || letters.elementsEqual(".m3u8".utf8)
    }
}
