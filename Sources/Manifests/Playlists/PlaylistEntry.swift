import Platform

/// A file that a playlist names, and where it may be: on this machine, on a web server, or at the content service.
public struct PlaylistEntry: Equatable, Sendable {
    /// Returns the path that a line means from the root of the music, as MPD writes it; nil for another line.
    public typealias MusicPath = (_ line: String) -> String?

    /// The line as it is in the playlist, for a person.
    public let line: String
    /// The path that the line means on this machine; nil for a file on another machine.
    public let path: String?
    /// Other paths that it may mean, the likely ones first: that from the root of the music, those with the separators
    /// of Windows, without its drives, with percent-encoding and in another set of characters. Music may have been
    /// copied from another folder.
    public let alternatives: [String]
    /// The address of a file on a web server (http, https), which has no path; nil for a file on a machine.
    public let webAddress: String?
    /// The address of a product of the content service (`tonearm:track/ID`), which has no path; nil for a file.
    public let serviceAddress: String?

    /// - Parameters:
    ///   - line: without blanks at its ends.
    ///   - encoding: of the playlist.
    ///   - folder: where relative paths begin.
    ///   - root: where music that was moved is searched.
    /// - Returns: nil for a line that names no file.
    init?(
        _ line: [UInt8], _ encoding: TextEncoding, in folder: String, below root: String,
        _ musicPath: MusicPath = { _ in nil }
    ) {
        self.line = encoding.text(of: line)
        (webAddress, serviceAddress) = (nil, nil)
        var places = EntryPlaces(folder: folder, root: root)
        let line = Self.withHost(line)
        if let scheme = Self.scheme(of: line) {
            guard scheme.elementsEqual("file".utf8), let address = FileAddress(line) else { return nil }
            if address.isHere { places.add(address.path) }
            path = places.found.first
            places.addForeign(address.path)
            if !TextEncoding.isUTF8(address.path) {
                // The playlist itself may be ASCII.
                let own = encoding == .utf8 ? TextEncoding(of: address.path) : encoding
                places.addForeign(Array(own.text(of: address.path).utf8))
            }
        } else {
            // A line without a slash may come from Windows, where a backslash is no character of a name.
            let isOfWindows = !line.contains(UInt8(ascii: "/"))
            places.add(isOfWindows ? encoding.withSlashes(line) : line)
            path = places.found.first
            var meanings = [encoding.withSlashes(line)]
            let text = Array(self.line.utf8)
            if text != line { meanings.append(TextEncoding.utf8.withSlashes(text)) }
            for slashed in meanings {
                places.addForeign(slashed)
                if let plain = FormText.unescaped(slashed[...], plusIsBlank: false), plain != slashed {
                    places.addForeign(plain)
                }
            }
        }
        let (first, inMusic) = (path, musicPath(self.line))
        func isOther(_ place: String, than one: String?) -> Bool { !(one?.utf8.elementsEqual(place.utf8) ?? false) }
        let others = places.found.filter { isOther($0, than: first) && isOther($0, than: inMusic) }
        alternatives = (inMusic.flatMap { isOther($0, than: first) ? [$0] : nil } ?? []) + others
        if path == nil, alternatives.isEmpty { return nil }
    }

    /// - Returns: nil for a line that is not an address of http or https.
    init?(webAddress line: [UInt8]) {
        guard let scheme = Self.scheme(of: line),
            scheme.elementsEqual("http".utf8) || scheme.elementsEqual("https".utf8)
        else { return nil }
        self.line = TextEncoding.utf8.text(of: line)
        (path, alternatives, webAddress, serviceAddress) = (nil, [], self.line, nil)
    }

    /// - Returns: nil for a line that is no address of a product.
    init?(serviceAddress line: [UInt8]) {
        guard line.starts(with: "tonearm:".utf8) else { return nil }
        self.line = TextEncoding.utf8.text(of: line)
        (path, alternatives, webAddress, serviceAddress) = (nil, [], nil, self.line)
    }

    /// Whether a line is the address of something on a server.
    static func isAddress(_ line: [UInt8]) -> Bool {
        scheme(of: line).map { !$0.elementsEqual("file".utf8) } ?? false
    }

    /// `file:/path` (RFC 8089) as `file:///path`.
    private static func withHost(_ line: [UInt8]) -> [UInt8] {
        let start = Array("file:/".utf8)
        guard line.prefix(start.count).map({ $0.lowercased }).elementsEqual(start.map { $0.lowercased }),
            !line.dropFirst(start.count).starts(with: [UInt8(ascii: "/")])
        else { return line }
        return start + Array("//".utf8) + line.dropFirst(start.count)
    }

    /// The scheme before `://` (RFC 3986, 3.1), in lower case; nil for a path.
    private static func scheme(of line: [UInt8]) -> [UInt8]? {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 1,
            line[(colon + 1)...].starts(with: "//".utf8)
        else { return nil }
        let name = line[..<colon].map { $0.lowercased }
        return name.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) } ? name : nil
    }
}

/// `file:///music/a%20b.flac`.
private struct FileAddress {
    var path: [UInt8]
    /// Whether the address names this machine.
    var isHere: Bool

    /// - Returns: nil for an escaped NUL, and for a line that is no address.
    init?(_ line: [UInt8]) {
        var rest = line.dropFirst("file://".utf8.count)
        let host = rest.prefix { $0 != UInt8(ascii: "/") }
        rest = rest.dropFirst(host.count)
        isHere = host.isEmpty || host.map { $0.lowercased }.elementsEqual("localhost".utf8)
        guard rest.first == UInt8(ascii: "/"), let path = FormText.unescaped(rest, plusIsBlank: false),
            !path.contains(0)
        else { return nil }
        self.path = path
    }
}

/// The paths that an entry may mean, without duplicates.
private struct EntryPlaces {
    let folder: String
    let root: String
    private(set) var found: [String] = []

    private static let most = 64
    private static let deepest = 32
    init(folder: String, root: String) { (self.folder, self.root) = (folder, root) }

    /// The path as it is: absolute, or relative to the folder.
    mutating func add(_ path: [UInt8]) {
        let text = path.withUnsafeBufferPointer { FileName.text(of: $0) }
        note(text.utf8.first == UInt8(ascii: "/") ? text : "\(folder)/\(text)")
    }

    /// The path without a drive; if it is absolute, also its ends, below the root and the folder: the music may have
    /// moved as a whole.
    mutating func addForeign(_ path: [UInt8]) {
        var path = path[...]
        // `/C:/Music` of an address.
        var letter = path.first == UInt8(ascii: "/") ? path.dropFirst() : path
        if letter.count > 2, letter.dropFirst().first == UInt8(ascii: ":"), let drive = letter.first,
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(drive | 0x20)
        {
            letter = letter.dropFirst(2)
            path = letter
        }
        add(Array(path))
        guard path.first == UInt8(ascii: "/") else { return }
        let names = path.split(separator: UInt8(ascii: "/")).suffix(Self.deepest)
        for place in names.indices {
            let rest = Array(names[place...].joined(separator: [UInt8(ascii: "/")]))
            let text = rest.withUnsafeBufferPointer { FileName.text(of: $0) }
            note("\(root)/\(text)")
            note("\(folder)/\(text)")
        }
    }

    private mutating func note(_ path: String) {
        guard found.count < Self.most, let path = Self.withoutDots(path),
            !found.contains(where: { $0.utf8.elementsEqual(path.utf8) })
        else { return }
        found.append(path)
    }

    /// The path without `.` and `..`; nil when it leads above the root.
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
}
