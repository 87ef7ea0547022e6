extension Folder {
    /// Folders that operating systems and network storage put beside the files of people: deleted files, thumbnails,
    /// snapshots, and pieces of damaged files. In lower case.
    private static let systemNames = [
        "$recycle.bin", "recycled", "recycler", "system volume information", "lost+found", "#recycle", "#snapshot",
        "@recycle", "@recently-snapshot", "@eadir",
    ]
    private static let trashPrefix = ".trash"

    /// Whether a folder of this name belongs to a system: its files with the endings of music are not to be played. The
    /// case of letters does not count, since some file systems change it.
    public static func isOfSystem(name: String) -> Bool {
        let letters = name.utf8.map { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") ? $0 | 0x20 : $0 }
        return letters.starts(with: trashPrefix.utf8) || systemNames.contains { $0.utf8.elementsEqual(letters) }
    }
}
