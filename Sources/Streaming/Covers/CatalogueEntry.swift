import Platform

/// A track, an album or a playlist of the service's catalogue: `tonearm:track/ID`, `tonearm:album/ID`,
/// `tonearm:playlist/ID`.
public struct CatalogueEntry: Equatable, Sendable {
    enum Kind: Equatable, Sendable { case track, album, playlist }

    let kind: Kind
    let id: String

    private static let kinds: [(start: String, kind: Kind)] = [
        ("tonearm:track/", .track), ("tonearm:album/", .album), ("tonearm:playlist/", .playlist),
    ]
    private static let idLimit = 256

    /// Returns nil when `text` is not the address of such an entry.
    public init?(_ text: String) {
        guard let (start, kind) = Self.kinds.first(where: { text.utf8.starts(with: $0.start.utf8) }) else { return nil }
        let id = text.utf8.dropFirst(start.utf8.count)
        guard 1...Self.idLimit ~= id.count, id.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        self.kind = kind
        self.id = String(decoding: id, as: UTF8.self)
    }

    public var text: String {
        switch kind {
        case .track: "tonearm:track/\(id)"
        case .album: "tonearm:album/\(id)"
        case .playlist: "tonearm:playlist/\(id)"
        }
    }

    /// The path of the entry's description, to append to the service's address.
    var path: String {
        let name =
            switch kind {
            case .track: "tracks"
            case .album: "albums"
            case .playlist: "playlists"
            }
        return "/v1/\(name)/\(FormText.escaped(id))"
    }

    /// Returns the reference to the entry's cover in its description; nil without one.
    func cover(in description: JSONValue) -> String? {
        (kind == .track ? description["album"]?["cover"] : description["cover"])?.string
    }
}
