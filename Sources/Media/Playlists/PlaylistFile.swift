import Platform

/// A playlist as players write it (M3U, in UTF-8 also called M3U8): a path a line, and comments behind `#`.
public struct PlaylistFile: Equatable, Sendable {
    /// From `#PLAYLIST:`.
    public private(set) var title: String?
    /// Files in order, as `FileName` writes them: absolute, without `.` and `..`. Addresses of the web are left out.
    public private(set) var paths: [String] = []

    /// A larger file is no playlist. In bytes.
    public static let mostBytes = 8 << 20
    private static let mostPaths = 100_000
    private static let longestPath = 4096

    /// - Parameters:
    ///   - bytes: of the file. Any bytes are a playlist; lines that are no paths are left out.
    ///   - folder: the absolute path of the folder that relative paths begin in, without `.` and `..`.
    public init(parsing bytes: [UInt8], in folder: String) {
        let hasMark = bytes.starts(with: [0xEF, 0xBB, 0xBF])
        // Old files of other systems end lines with CR alone.
        let lines = bytes.dropFirst(hasMark ? 3 : 0).split { $0 == 0x0A || $0 == 0x0D }
        for line in lines {
            let text = Self.trimmed(line)
            if text.first == UInt8(ascii: "#") { readTag(text) } else { readPath(text, folder) }
            if paths.count == Self.mostPaths { break }
        }
    }

    private mutating func readTag(_ line: ArraySlice<UInt8>) {
        let name = Array("#PLAYLIST:".utf8)
        guard title == nil, line.starts(with: name) else { return }
        let text = Self.trimmed(line.dropFirst(name.count))
        if !text.isEmpty { title = String(decoding: text, as: UTF8.self) }
    }

    private mutating func readPath(_ line: ArraySlice<UInt8>, _ folder: String) {
        guard !line.isEmpty, line.count <= Self.longestPath, !line.contains(0) else { return }
        var path = Array(line)
        if Self.isAddress(path) {
            guard let local = Self.localPath(path) else { return }
            path = local
        } else if !path.contains(UInt8(ascii: "/")) {
            // Written by Windows; there, it is no character of a name.
            for index in path.indices where path[index] == UInt8(ascii: "\\") { path[index] = UInt8(ascii: "/") }
        }
        let text = path.withUnsafeBufferPointer { FileName.text(of: $0) }
        let absolute = text.utf8.first == UInt8(ascii: "/") ? text : "\(folder)/\(text)"
        if let resolved = Self.withoutDots(absolute) { paths.append(resolved) }
    }

    /// Whether it begins with a scheme (RFC 3986, 3.1) and `//`.
    private static func isAddress(_ path: [UInt8]) -> Bool {
        guard let colon = path.firstIndex(of: UInt8(ascii: ":")), colon > 1 else { return false }
        return path[..<colon].allSatisfy { byte in
            UInt8(ascii: "a") <= byte | 0x20 && byte | 0x20 <= UInt8(ascii: "z")
        } && path[(colon + 1)...].starts(with: "//".utf8)
    }

    /// The path of `file:///music/a%20b.flac`; nil for another scheme, another host, and an escaped NUL.
    private static func localPath(_ address: [UInt8]) -> [UInt8]? {
        let scheme = Array("file://".utf8)
        guard address.starts(with: scheme) else { return nil }
        var rest = address[scheme.count...]
        let host = Array("localhost".utf8)
        if rest.starts(with: host) { rest = rest.dropFirst(host.count) }
        guard rest.first == UInt8(ascii: "/"), let path = FormText.unescaped(rest, plusIsBlank: false) else {
            return nil
        }
        return path.contains(0) ? nil : path
    }

    /// nil when it leads above the root.
    private static func withoutDots(_ path: String) -> String? {
        var names: [Substring.UTF8View] = []
        for name in path.utf8.split(separator: UInt8(ascii: "/")) {
            if name.elementsEqual(".".utf8) { continue }
            if name.elementsEqual("..".utf8) {
                if names.popLast() == nil { return nil }
            } else {
                names.append(name)
            }
        }
        return names.isEmpty ? nil : names.reduce(into: "") { $0 += "/" + String(Substring($1)) }
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        let rest = bytes.drop(while: isBlank)
        guard let last = rest.lastIndex(where: { !isBlank($0) }) else { return [] }
        return rest[...last]
    }
}
