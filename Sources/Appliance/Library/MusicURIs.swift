import Library

/// The relation between the music folders and MPD's URIs, which are relative.
///
/// With one folder, a URI is the path inside this folder, as in MPD. With several, the root contains each folder under
/// its last name: `/data/music/a.flac` is `music/a.flac`. A second folder of the same name gets a number (`music 2`).
package struct MusicURIs: Equatable, Sendable {
    private struct Root: Equatable, Sendable {
        /// The first part of the URI; empty when there is one folder.
        var name: String
        /// The absolute path, without a slash at its end.
        var folder: String
    }

    private let roots: [Root]

    /// - Parameter folders: absolute paths.
    package init(folders: [String]) {
        var roots: [Root] = []
        for folder in folders {
            let path = Self.withoutSlash(folder)
            var name = ""
            if folders.count > 1 {
                let last = FilePlace(path).file
                name = last
                var number = 2
                while roots.contains(where: { $0.name.utf8.elementsEqual(name.utf8) }) {
                    name = "\(last) \(number)"
                    number += 1
                }
            }
            roots.append(Root(name: name, folder: path))
        }
        self.roots = roots
    }

    private static func withoutSlash(_ path: String) -> String {
        var bytes = path.utf8[...]
        while bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The names in the root when there are several folders; nil when the root is the only folder.
    package var rootNames: [String]? { roots.count > 1 ? roots.map { $0.name } : nil }

    /// The folders, as the targets to which links in them may lead.
    package var musicRoots: MusicRoots { MusicRoots(roots.map { $0.folder.utf8.isEmpty ? "/" : $0.folder }) }

    /// The music folder when there is one; nil for several, which have no common folder.
    package var onlyFolder: String? { roots.count == 1 ? roots[0].folder : nil }

    /// Returns whether two files are in the same music folder.
    package func areInOneFolder(_ path: String, _ other: String) -> Bool {
        roots.contains { Self.rest(of: path, in: $0.folder) != nil && Self.rest(of: other, in: $0.folder) != nil }
    }

    /// Returns the URI of a path; nil if the path is in no music folder.
    package func uri(ofPath path: String) -> String? {
        for root in roots {
            guard let rest = Self.rest(of: path, in: root.folder) else { continue }
            return root.name.utf8.isEmpty ? rest : rest.utf8.isEmpty ? root.name : "\(root.name)/\(rest)"
        }
        return nil
    }

    /// Returns the URI of an entry in the folders, or else its path or address. Control characters of an address are
    /// escaped, which does not change its meaning.
    package func shownURI(ofPath path: String) -> String {
        if let uri = uri(ofPath: path) { return uri }
        return path.utf8.first == UInt8(ascii: "/") ? path : Self.escaped(path)
    }

    private static func escaped(_ address: String) -> String {
        func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.value < 0x20 || 0x7F...0x9F ~= scalar.value }
        guard address.unicodeScalars.contains(where: isControl) else { return address }
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for scalar in address.unicodeScalars {
            let isControl = isControl(scalar)
            for byte in scalar.utf8 {
                bytes += isControl ? [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]] : [byte]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the absolute path of a URI; nil when no music folder has this name. The file may not exist.
    /// - Parameter uri: without a slash at its end. The root of several folders has no path.
    package func path(ofURI uri: String) -> String? {
        for root in roots {
            if root.name.utf8.isEmpty { return uri.utf8.isEmpty ? root.folder : "\(root.folder)/\(uri)" }
            guard let rest = Self.rest(of: uri, in: root.name) else { continue }
            return rest.utf8.isEmpty ? root.folder : "\(root.folder)/\(rest)"
        }
        return nil
    }

    /// Returns the path of a line of a playlist that is a URI; nil for another line.
    func musicPath(_ line: String) -> String? { Self.isSafe(line) ? path(ofURI: line) : nil }

    /// Returns whether a URI stays in the folders: none of its parts is empty, `.` or `..`.
    package static func isSafe(_ uri: String) -> Bool {
        uri.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy {
            !$0.isEmpty && !$0.elementsEqual(".".utf8) && !$0.elementsEqual("..".utf8)
        }
    }

    /// The paths of the folders with their URIs, in the order of their names.
    package var sortedRoots: [(path: String, uri: String)] {
        roots.map { ($0.folder, $0.name) }.sorted {
            FolderOrder.place(ofName: $0.1).lexicographicallyPrecedes(FolderOrder.place(ofName: $1.1))
        }
    }

    /// Returns the part of a path after a folder and a slash; nil when the path is not in the folder.
    private static func rest(of path: String, in folder: String) -> String? {
        guard path.utf8.starts(with: folder.utf8) else { return nil }
        let rest = path.utf8.dropFirst(folder.utf8.count)
        if rest.isEmpty { return "" }
        guard rest.first == UInt8(ascii: "/") else { return nil }
        return String(decoding: rest.dropFirst(), as: UTF8.self)
    }
}
