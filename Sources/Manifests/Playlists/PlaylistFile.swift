import Media
import Platform

/// A playlist as players write it: M3U (in UTF-8 also called M3U8), PLS or XSPF. In UTF-16, a character set of
/// `TextEncoding`, or any other one of which a name in a folder is made.
public struct PlaylistFile: Equatable, Sendable {
    /// The title from `#PLAYLIST:`.
    public private(set) var title: String?
    /// The entries in order: files, addresses of http and https, and products of the content service.
    public private(set) var entries: [PlaylistEntry] = []
    /// The first address with another scheme, and how many there are. They are no entries.
    public private(set) var otherAddress: String?
    public private(set) var otherAddressCount = 0
    /// Whether it is a playlist of HLS: its entries are segments of one stream.
    public private(set) var isStream = false
    /// The name of the character set if it cannot be decoded: "Big5". Its entries are found by their bytes alone.
    public var unreadEncoding: String? { encoding.unreadName }

    private var encoding = TextEncoding.utf8

    /// Files in order, as `FileName` writes them: absolute, without `.` and `..`.
    public var paths: [String] { entries.compactMap { $0.path } }

    /// The endings of the names of playlists, in lower case, without the dot.
    public static let fileNameEndings = ["m3u", "m3u8", "pls", "xspf"]
    /// A larger file is no playlist. In bytes.
    public static let mostBytes = 8 << 20
    private static let mostPaths = 100_000
    static let longestPath = 4096

    /// M3U: one path in each line, and comments after `#`.
    /// - Parameters:
    ///   - bytes: of the file. Any bytes are a playlist; lines that are no paths are left out.
    ///   - folder: the absolute path of the folder that relative paths begin in, without `.` and `..`.
    ///   - root: the absolute path of the folder in which moved music is searched.
    ///   - musicPath: as for `PlaylistEntry.MusicPath`.
    public init(
        parsing bytes: [UInt8], in folder: String, below root: String? = nil,
        musicPath: PlaylistEntry.MusicPath = { _ in nil }
    ) {
        let text = TextLines(PlaylistLine.whole(bytes))
        encoding = text.encoding
        for line in text.lines {
            if line.first == UInt8(ascii: "#") {
                readTag(line)
            } else {
                add(Array(line), in: folder, below: root ?? folder, musicPath)
            }
        }
    }

    /// M3U, PLS or XSPF, as the content shows.
    /// - Parameters:
    ///   - folder: the absolute path of the folder that relative paths begin in, without `.` and `..`.
    ///   - musicPath: as for `PlaylistEntry.MusicPath`.
    /// - Throws: `.malformed` for XML that is no XSPF.
    public init(
        recognising bytes: [UInt8], in folder: String, musicPath: PlaylistEntry.MusicPath = { _ in nil }
    ) throws(ManifestError) {
        self.init(parsing: [], in: folder)
        let lines = TextLines(Array(bytes.prefix(1024))).lines
        if lines.first?.first == UInt8(ascii: "<") {
            for location in try XSPF.locations(in: bytes) { add(location, in: folder, below: folder, musicPath) }
        } else if lines.first.map(PLS.isHeader) ?? false {
            let text = TextLines(bytes)
            encoding = text.encoding
            for file in PLS.files(in: text.lines) { add(file, in: folder, below: folder, musicPath) }
        } else {
            self = PlaylistFile(parsing: bytes, in: folder, musicPath: musicPath)
        }
    }

    /// A line of an M3U that is an entry.
    public struct Line {
        /// The path or address, without blanks at its ends.
        public let bytes: ArraySlice<UInt8>
        fileprivate let encoding: TextEncoding

        /// Returns the entry; nil for a line that names no file.
        /// - Parameter folder: the absolute path of the folder that relative paths begin in, without `.` and `..`.
        public func entry(
            in folder: String, musicPath: PlaylistEntry.MusicPath = { _ in nil }
        ) -> PlaylistEntry? {
            PlaylistFile.entry(Array(bytes), encoding, in: folder, below: folder, musicPath)
        }
    }

    /// Calls `body` with the line of each entry of an M3U in order. The paths that it may mean are not worked out.
    /// - Parameter folder: as for `init`.
    public static func eachLine(of bytes: [UInt8], in folder: String, _ body: (Line) -> Void) {
        var count = 0
        let text = TextLines(PlaylistLine.whole(bytes))
        for bytes in text.lines where count < mostPaths && bytes.first != UInt8(ascii: "#") {
            let line = Line(bytes: bytes, encoding: text.encoding)
            guard isPlainPath(bytes) || line.entry(in: folder) != nil else { continue }
            count += 1
            body(line)
        }
    }

    /// Whether a line certainly is an entry: a path with a name, that does not lead up more than once.
    private static func isPlainPath(_ line: ArraySlice<UInt8>) -> Bool {
        guard line.count <= longestPath else { return false }
        var rest = line.starts(with: "../".utf8) ? line.dropFirst(3) : line
        if rest.first == UInt8(ascii: "/") { rest.removeFirst() }
        guard let first = rest.first, first > UInt8(ascii: "/") else { return false }
        var last = first
        for byte in rest.dropFirst() {
            let isDoubtful = last == UInt8(ascii: ".") && byte == last || last == UInt8(ascii: ":") && byte == 0x2F
            if isDoubtful || byte == 0 { return false }
            last = byte
        }
        return true
    }

    /// - Returns: nil for a line that names no file.
    private static func entry(
        _ line: [UInt8], _ encoding: TextEncoding, in folder: String, below root: String,
        _ musicPath: PlaylistEntry.MusicPath
    ) -> PlaylistEntry? {
        guard isUsable(line) else { return nil }
        if let address = PlaylistEntry(webAddress: line) ?? PlaylistEntry(serviceAddress: line) { return address }
        return PlaylistEntry.isAddress(line) ? nil : PlaylistEntry(line, encoding, in: folder, below: root, musicPath)
    }

    private static func isUsable(_ line: [UInt8]) -> Bool { line.count <= longestPath && !line.contains(0) }

    private mutating func add(
        _ line: [UInt8], in folder: String, below root: String, _ musicPath: PlaylistEntry.MusicPath
    ) {
        guard entries.count < Self.mostPaths else { return }
        if let entry = Self.entry(line, encoding, in: folder, below: root, musicPath) {
            entries.append(entry)
        } else if Self.isUsable(line), PlaylistEntry.isAddress(line) {
            otherAddress = otherAddress ?? encoding.text(of: line)
            otherAddressCount += 1
        }
    }

    private mutating func readTag(_ line: ArraySlice<UInt8>) {
        if line.starts(with: "#EXT-X-".utf8) { isStream = true }
        let name = Array("#PLAYLIST:".utf8)
        guard title == nil, line.starts(with: name) else { return }
        let text = TextLines.trimmed(line.dropFirst(name.count))
        if !text.isEmpty { title = encoding.text(of: Array(text)) }
    }
}

/// A playlist of Winamp: `FileN=`, in a section `[playlist]`.
private enum PLS {
    static func isHeader(_ line: ArraySlice<UInt8>) -> Bool {
        line.prefix { !TagText.isBlank($0) }.map { $0.uppercased }.elementsEqual("[PLAYLIST]".utf8)
    }

    /// The files in the order of their numbers.
    static func files(in lines: [ArraySlice<UInt8>]) -> [[UInt8]] {
        var files: [(number: Int, name: [UInt8])] = []
        for line in lines {
            guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let key = line[..<equals].map { $0.lowercased }
            guard key.starts(with: "file".utf8),
                let number = TagNumber.ordinal(String(decoding: key.dropFirst(4), as: UTF8.self))
            else { continue }
            let name = TextLines.trimmed(line[(equals + 1)...])
            if !name.isEmpty { files.append((number, Array(name))) }
        }
        // Stable: equal numbers keep their order.
        let order = files.indices.sorted { (files[$0].number, $0) < (files[$1].number, $1) }
        return order.map { files[$0].name }
    }
}

/// XML Shareable Playlist Format.
private enum XSPF {
    /// The locations of the tracks: URIs. When a track has several, the first one.
    static func locations(in bytes: [UInt8]) throws(ManifestError) -> [[UInt8]] {
        let root = try XMLElement.parse(bytes)
        guard root.is("playlist"), let list = root.child("trackList") else {
            throw .malformed(what: "XML that is no XSPF")
        }
        return list.children("track").compactMap { track in
            track.child("location").map { Array(TagText.trimmed(Array($0.text.utf8.drop(while: TagText.isBlank)))) }
        }
    }
}
