import Platform

/// The name of a stored playlist, in the form of `FileName`. Names that differ only in case, or in the spelling of
/// accents, are one name: on a card that a PC formatted their files would be one file, and users could confuse them.
struct PlaylistName {
    /// Leaves room for the ending in the 255 bytes of a file's name.
    static let mostBytes = 200

    let text: String
    /// Bytes that are the same for all spellings of the name.
    let folded: [UInt8]

    init(_ text: String) throws(PlaylistFailure) {
        let bytes = text.utf8
        // A name that begins with a full stop would be hidden, and `..` leads out of the folder.
        guard (1...Self.mostBytes).contains(bytes.count), bytes.first != UInt8(ascii: "."),
            !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "/") })
        else { throw .badName(text) }
        self.text = text
        folded = FoldedText.name(text)
    }

    func isSame(as other: PlaylistName) -> Bool { text.utf8.elementsEqual(other.text.utf8) }
}

/// The file of a stored playlist.
struct StoredPlaylistFile {
    static let ending = ".m3u8"
    /// The ending of playlists that other programs wrote, in UTF-8 or Latin-1.
    private static let formerEnding = ".m3u"

    let name: PlaylistName
    /// The name of the file.
    let file: String
    /// Whether another program wrote it, with the ending `.m3u`.
    let isFormer: Bool

    /// Returns nil for the name of another file.
    init?(_ file: String) {
        func name(before ending: String) -> PlaylistName? {
            let (bytes, ending) = (file.utf8, ending.utf8)
            guard bytes.count > ending.count,
                bytes.suffix(ending.count).map({ $0.lowercased }).elementsEqual(ending.map { $0.lowercased })
            else { return nil }
            return try? PlaylistName(String(decoding: bytes.dropLast(ending.count), as: UTF8.self))
        }
        if let name = name(before: Self.ending) {
            (self.name, isFormer) = (name, false)
        } else if let name = name(before: Self.formerEnding) {
            (self.name, isFormer) = (name, true)
        } else {
            return nil
        }
        self.file = file
    }

    /// Returns the file name of a playlist with another name and the same ending.
    func file(named other: PlaylistName) -> String {
        other.text + String(decoding: file.utf8.dropFirst(name.text.utf8.count), as: UTF8.self)
    }

    /// Sorts without regard to case. The file that this program wrote comes before another file with the same name.
    static func precedes(_ one: Self, _ other: Self) -> Bool {
        if !one.name.folded.elementsEqual(other.name.folded) {
            return one.name.folded.lexicographicallyPrecedes(other.name.folded)
        }
        if one.name.isSame(as: other.name) { return !one.isFormer && other.isFormer }
        return one.name.text.utf8.lexicographicallyPrecedes(other.name.text.utf8)
    }
}
