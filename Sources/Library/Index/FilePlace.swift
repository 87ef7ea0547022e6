import Crypto
import Platform

/// A path compared by bytes: Swift treats two spellings of one letter as equal, but file systems do not.
package struct PathBytes: Hashable, Sendable {
    package let path: String

    package init(_ path: String) { self.path = path }

    package static func == (one: Self, other: Self) -> Bool { one.path.utf8.elementsEqual(other.path.utf8) }
    package func hash(into hasher: inout Hasher) { for byte in path.utf8 { hasher.combine(byte) } }

    /// Returns whether the path is one of these paths, or lies in one of them.
    func isIn(_ paths: Set<PathBytes>) -> Bool { paths.contains(self) || isBelow(paths) }

    /// Returns whether the path lies in one of these paths.
    func isBelow(_ paths: Set<PathBytes>) -> Bool {
        var path = Substring(path)
        while let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) {
            path = path[..<slash]
            if paths.contains(PathBytes(String(path))) { return true }
        }
        return false
    }
}

/// A path as folder and file name, in the form of the index. The folder / is empty.
package struct FilePlace: Equatable, Sendable {
    package var folder: String
    package var file: String

    package init(folder: String, file: String) {
        self.folder = folder.utf8.elementsEqual("/".utf8) ? "" : folder
        self.file = file
    }

    /// - Parameter path: an absolute path.
    package init(_ path: String) {
        let bytes = path.utf8
        let slash = bytes.lastIndex(of: UInt8(ascii: "/")) ?? bytes.startIndex
        folder = String(path[..<slash])
        file = slash == bytes.endIndex ? "" : String(path[bytes.index(after: slash)...])
    }

    package var path: String { "\(folder)/\(file)" }

    package static func == (one: Self, other: Self) -> Bool {
        one.file.utf8.elementsEqual(other.file.utf8) && one.folder.utf8.elementsEqual(other.folder.utf8)
    }

    /// Returns whether both files are in the same folder.
    package func isBeside(_ other: Self) -> Bool { folder.utf8.elementsEqual(other.folder.utf8) }

    /// The name of the file without its ending.
    var stem: String {
        let bytes = file.utf8
        guard let dot = bytes.lastIndex(of: UInt8(ascii: ".")), dot != bytes.startIndex else { return file }
        return String(file[..<dot])
    }

    /// The folder of the album: for a folder of one disc (`CD 1`, `Disc2`), the folder that contains it.
    var albumFolder: String {
        let parent = FilePlace(folder)
        return Self.isDisc(parent.file) ? parent.folder : folder
    }

    private static let discWords: [StaticString] = ["cd", "disc", "disk"]

    private static func isDisc(_ name: String) -> Bool {
        let letters = name.utf8.map { $0.lowercased }
        for word in discWords {
            guard word.withUTF8Buffer({ letters.starts(with: $0) }) else { continue }
            let rest = letters.dropFirst(word.utf8CodeUnitCount).drop { " _-.#".utf8.contains($0) }
            return rest.first.map { (0x30...0x39).contains($0) } ?? false
        }
        return false
    }
}

/// Short hashes of paths and contents.
enum ShortHash {
    static func of(_ bytes: [UInt8]) -> Int64 {
        guard let hash = try? SHA256.hash(bytes) else { preconditionFailure("SHA-256 without memory") }
        return hash[..<8].reduce(0) { $0 << 8 | Int64($1) }
    }

    /// Returns the same value for all cases and normal forms of a path.
    static func ofFolded(_ path: String) -> Int64 { of(FoldedText.name(path)) }
}
