import Platform

/// An album or a playlist of the service's catalogue: `tonearm:album/ID`, `tonearm:playlist/ID`.
public struct CatalogueList: Equatable, Sendable {
    enum Kind: Equatable, Sendable { case album, playlist }

    let kind: Kind
    let id: String

    /// Returns nil when `text` is not the address of an album or a playlist.
    public init?(_ text: String) {
        let kinds: [(String, Kind)] = [("tonearm:album/", .album), ("tonearm:playlist/", .playlist)]
        guard let (start, kind) = kinds.first(where: { text.utf8.starts(with: $0.0.utf8) }) else { return nil }
        let id = text.utf8.dropFirst(start.utf8.count)
        guard !id.isEmpty else { return nil }
        self.kind = kind
        self.id = String(decoding: id, as: UTF8.self)
    }

    init(_ kind: Kind, _ id: String) {
        self.kind = kind
        self.id = id
    }

    /// The address in the form that commands take: `tonearm:album/ID`.
    public var text: String { "tonearm:\(kind == .album ? "album" : "playlist")/\(id)" }

    /// Returns the path and query of the list's tracks, to append to the service's address.
    package func path(offset: Int, limit: Int) -> String {
        let name = kind == .album ? "albums" : "playlists"
        return "/v1/\(name)/\(FormText.escaped(id))/tracks?limit=\(limit)&offset=\(offset)"
    }
}
