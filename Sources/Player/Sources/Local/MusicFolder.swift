import CLinux
import Platform

/// Finds the music below a path.
public enum MusicFolder {
    /// What was found.
    public struct Contents: Equatable, Sendable {
        /// Paths in the order to play them: by name, where digits count as numbers (`2.flac` before `10.flac`), and a
        /// folder's files before those of its folders.
        public var files: [String] = []
        /// Folders that could not be read, and what cannot be opened by its name: ENOENT for a link that leads nowhere,
        /// EILSEQ for a name that is not UTF-8. They do not stop the rest.
        public var unreadable: [SystemError] = []

        public init() {}
    }

    private static let extensions: Set<String> = ["flac", "fla", "wav", "wave", "aif", "aiff", "aifc"]
    /// Deeper than any collection.
    private static let depthLimit = 32

    /// The audio files at `path`: itself where it is a file (whatever its name), else those below the folder whose
    /// names say that they are audio. Names that begin with a dot are left out.
    public static func contents(of path: String) throws(SystemError) -> Contents {
        switch FileKind(at: path) {
        case nil:
            var error = SystemError.last("open", path)
            // What a String makes of bytes that are not UTF-8 names nothing.
            if error.code == ENOENT, path.unicodeScalars.contains("\u{FFFD}") { error.code = EILSEQ }
            throw error
        case .file, .other:
            var contents = Contents()
            contents.files = [path]
            return contents
        case .folder:
            var contents = Contents()
            collect(try Folder.entries(of: path), in: path, [], &contents)
            return contents
        }
    }

    /// - Parameter above: the folders that `path` is in. A link to one of them would lead round for ever.
    private static func collect(
        _ entries: [Folder.Entry], in path: String, _ above: [Folder.Identity], _ contents: inout Contents
    ) {
        let visible = entries.filter { $0.name.utf8.first != UInt8(ascii: ".") }.sorted { naturally($0.name, $1.name) }
        for entry in visible where entry.kind != .folder && isAudio(entry.name) {
            let file = join(path, entry.name)
            if let error = error(of: entry, file) {
                contents.unreadable.append(error)
            } else if entry.kind == .file {
                contents.files.append(file)
            }
        }
        guard above.count < depthLimit, let identity = Folder.Identity(of: path) else { return }
        let above = above + [identity]
        for entry in visible where entry.kind == .folder {
            let folder = join(path, entry.name)
            if let error = error(of: entry, folder) {
                contents.unreadable.append(error)
                continue
            }
            if let identity = Folder.Identity(of: folder), above.contains(identity) { continue }
            do throws(SystemError) {
                collect(try Folder.entries(of: folder), in: folder, above, &contents)
            } catch {
                contents.unreadable.append(error)
            }
        }
    }

    /// Why nothing can be opened by this name.
    private static func error(of entry: Folder.Entry, _ path: String) -> SystemError? {
        if entry.isUsable, entry.kind != nil { return nil }
        return SystemError(code: entry.isUsable ? ENOENT : EILSEQ, operation: "open", subject: path)
    }

    private static func join(_ folder: String, _ name: String) -> String {
        folder.utf8.last == UInt8(ascii: "/") ? "\(folder)\(name)" : "\(folder)/\(name)"
    }

    private static func isAudio(_ name: String) -> Bool {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else { return false }
        let ending = name.utf8[name.utf8.index(after: dot)...].map { $0 | 0x20 }
        return extensions.contains(String(decoding: ending, as: UTF8.self))
    }

    /// Whether `left` comes before `right`: by bytes, but runs of digits by their value.
    static func naturally(_ left: String, _ right: String) -> Bool {
        var left = Array(left.utf8)[...]
        var right = Array(right.utf8)[...]
        while let a = left.first, let b = right.first {
            if isDigit(a), isDigit(b) {
                let first = takeNumber(&left)
                let second = takeNumber(&right)
                if first.count != second.count { return first.count < second.count }
                if !first.elementsEqual(second) { return first.lexicographicallyPrecedes(second) }
            } else {
                if a != b { return a < b }
                left.removeFirst()
                right.removeFirst()
            }
        }
        return left.isEmpty && !right.isEmpty
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

    /// Removes the leading digits and gives them without leading zeros.
    private static func takeNumber(_ bytes: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let digits = bytes.prefix { isDigit($0) }
        bytes.removeFirst(digits.count)
        return digits.drop { $0 == UInt8(ascii: "0") }
    }
}
