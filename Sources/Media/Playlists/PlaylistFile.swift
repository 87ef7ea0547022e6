import Platform

/// A playlist as players write it (M3U, in UTF-8 also called M3U8): a path a line, and comments behind `#`. In UTF-8,
/// UTF-16, or any other set of characters of which a name in a folder is made.
public struct PlaylistFile: Equatable, Sendable {
    /// From `#PLAYLIST:`.
    public private(set) var title: String?
    /// In order. Addresses of the web are left out.
    public private(set) var entries: [PlaylistEntry] = []

    /// Files in order, as `FileName` writes them: absolute, without `.` and `..`.
    public var paths: [String] { entries.compactMap { $0.path } }

    /// A larger file is no playlist. In bytes.
    public static let mostBytes = 8 << 20
    private static let mostPaths = 100_000
    private static let longestPath = 4096

    /// - Parameters:
    ///   - bytes: of the file. Any bytes are a playlist; lines that are no paths are left out.
    ///   - folder: the absolute path of the folder that relative paths begin in, without `.` and `..`.
    ///   - root: the absolute path of the folder in which music is looked for that was elsewhere once.
    public init(parsing bytes: [UInt8], in folder: String, below root: String? = nil) {
        let text = WideText.utf8(of: bytes) ?? bytes
        let hasMark = text.starts(with: [0xEF, 0xBB, 0xBF])
        // Old files of other systems end lines with CR alone.
        let lines = text.dropFirst(hasMark ? 3 : 0).split { $0 == 0x0A || $0 == 0x0D }
        for line in lines {
            let text = Self.trimmed(line)
            if text.first == UInt8(ascii: "#") {
                readTag(text)
            } else if !text.isEmpty, text.count <= Self.longestPath, !text.contains(0),
                let entry = PlaylistEntry(Array(text), in: folder, below: root ?? folder)
            {
                entries.append(entry)
            }
            if entries.count == Self.mostPaths { break }
        }
    }

    private mutating func readTag(_ line: ArraySlice<UInt8>) {
        let name = Array("#PLAYLIST:".utf8)
        guard title == nil, line.starts(with: name) else { return }
        let text = Self.trimmed(line.dropFirst(name.count))
        if !text.isEmpty { title = WesternText.text(of: Array(text)) }
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        let rest = bytes.drop(while: isBlank)
        guard let last = rest.lastIndex(where: { !isBlank($0) }) else { return [] }
        return rest[...last]
    }
}

/// UTF-16, with a byte-order mark or without.
private enum WideText {
    /// nil for bytes that are not UTF-16.
    static func utf8(of bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count >= 2 else { return nil }
        let isLittle: Bool
        switch (bytes[0], bytes[1]) {
        case (0xFF, 0xFE): isLittle = true
        case (0xFE, 0xFF): isLittle = false
        // Without a mark: a playlist begins with a character of ASCII, and a line has no byte 0.
        case (let first, 0) where first != 0: isLittle = true
        case (0, let second) where second != 0: isLittle = false
        default: return nil
        }
        func unit(_ place: Int) -> UInt32 {
            let (first, second) = (UInt32(bytes[place]), UInt32(bytes[place + 1]))
            return isLittle ? second << 8 | first : first << 8 | second
        }
        var text = String.UnicodeScalarView()
        var place = 0
        while place + 1 < bytes.count {
            var value = unit(place)
            place += 2
            if value & 0xFC00 == 0xD800, place + 1 < bytes.count, unit(place) & 0xFC00 == 0xDC00 {
                value = 0x1_0000 + ((value & 0x3FF) << 10 | unit(place) & 0x3FF)
                place += 2
            }
            text.append(Unicode.Scalar(value) ?? "\u{FFFD}")
        }
        return Array(String(text).utf8)
    }
}
