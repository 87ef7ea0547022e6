import Library

/// The folders whose files network clients may name: the folders of the library, and the folder of the stored
/// playlists.
package struct MusicFolders: Sendable {
    /// Absolute paths.
    package let paths: [String]

    package init(paths: [String]) { self.paths = paths }

    /// Returns whether a path is one of the folders or lies in one. Refuses `..` and links, which could lead out of the
    /// folder.
    package func contains(_ path: String) -> Bool {
        let isBelow = paths.contains { folder in
            var folder = folder.utf8[...]
            while folder.last == UInt8(ascii: "/") { folder.removeLast() }
            guard path.utf8.starts(with: folder) else { return false }
            let rest = path.utf8.dropFirst(folder.count)
            return rest.isEmpty || rest.first == UInt8(ascii: "/")
        }
        return isBelow && path.utf8.split(separator: UInt8(ascii: "/")).allSatisfy { !$0.elementsEqual("..".utf8) }
            && MusicRoots(paths).contain(path)
    }
}
