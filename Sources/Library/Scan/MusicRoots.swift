import Platform

/// The folders that music may come from. They may be links themselves, but links in them are followed into one of them
/// only: a stick from someone else may have a link to any file of this machine.
///
/// Thread: any that may block on the medium.
package struct MusicRoots: Sendable {
    /// As they are configured.
    private let folders: [String]
    /// Without links, as far as they are there.
    private let resolved: [String]

    /// Looks where the folders are now.
    /// - Parameter folders: absolute paths without dots.
    package init(_ folders: [String]) {
        self.folders = folders
        resolved = folders.compactMap { try? Folder.resolved($0) }
    }

    /// Whether a path leads into one of the folders, whatever links are in it. A path to nothing does so unless one of
    /// its links leads out.
    package func contain(_ path: String) -> Bool {
        var place = path
        while true {
            if let real = try? Folder.resolved(place) {
                if resolved.contains(where: { Self.isIn(real, $0) }) { return true }
                // The folder itself is not there.
                return !place.utf8.elementsEqual(path.utf8) && folders.contains { Self.isIn($0, place) }
            }
            place = FilePlace(place).folder
            if place.utf8.isEmpty { place = "/" }
        }
    }

    /// Whether a path is a folder or lies in it.
    private static func isIn(_ path: String, _ folder: String) -> Bool {
        var folder = folder.utf8[...]
        while folder.last == UInt8(ascii: "/") { folder.removeLast() }
        guard path.utf8.starts(with: folder) else { return false }
        let rest = path.utf8.dropFirst(folder.count)
        return rest.isEmpty || rest.first == UInt8(ascii: "/")
    }
}
