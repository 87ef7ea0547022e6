extension Folder {
    /// Folders that operating systems and network storage create beside the files of users: deleted files, thumbnails,
    /// snapshots, and pieces of damaged files. In lower case.
    private static let systemNames = [
        "$recycle.bin", "recycled", "recycler", "system volume information", "lost+found", "#recycle", "#snapshot",
        "@recycle", "@recently-snapshot", "@eadir",
    ]
    private static let trashPrefix = ".trash"

    /// Returns whether a folder of this name belongs to a system, so that its audio files must not be played. Ignores
    /// the case of letters, since some file systems change it.
    public static func isOfSystem(name: String) -> Bool {
        let letters = name.utf8.map { $0.lowercased }
        return letters.starts(with: trashPrefix.utf8) || systemNames.contains { $0.utf8.elementsEqual(letters) }
    }
}
