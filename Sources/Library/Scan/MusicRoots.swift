import Platform

/// The folders that music may come from. The folders may be links themselves. Links inside of them are followed only
/// into one of the folders, because a foreign stick may link to any file of this machine.
///
/// Thread: any that may block on the medium.
package struct MusicRoots: Sendable {
    /// The folders, as they are configured.
    private let folders: [String]
    /// The existing folders, with links resolved.
    private let resolved: [String]

    /// Resolves the links of the folders.
    /// - Parameter folders: absolute paths without dots.
    package init(_ folders: [String]) {
        self.folders = folders
        resolved = folders.compactMap { try? Folder.resolved($0) }
    }

    /// Returns whether a path leads into one of the folders after its links are resolved. A path to a missing file
    /// does, unless one of its links leads out.
    package func contain(_ path: String) -> Bool {
        var place = path
        while true {
            if let real = try? Folder.resolved(place) {
                if resolved.contains(where: { Self.isIn(real, $0) }) { return true }
                // The music folder itself is missing.
                return !place.utf8.elementsEqual(path.utf8) && folders.contains { Self.isIn($0, place) }
            }
            place = FilePlace(place).folder
            if place.utf8.isEmpty { place = "/" }
        }
    }

    /// Returns whether a path is `folder` or lies in it.
    private static func isIn(_ path: String, _ folder: String) -> Bool {
        var folder = folder.utf8[...]
        while folder.last == UInt8(ascii: "/") { folder.removeLast() }
        guard path.utf8.starts(with: folder) else { return false }
        let rest = path.utf8.dropFirst(folder.count)
        return rest.isEmpty || rest.first == UInt8(ascii: "/")
    }
}
