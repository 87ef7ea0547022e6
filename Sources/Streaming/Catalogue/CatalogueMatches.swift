import Account
import Network
import Platform
import Playback

/// The results of a search in a service's catalogue (docs/service.md, "Catalogue"), the best first.
public struct CatalogueMatches: Equatable, Sendable {
    public struct Track: Equatable, Sendable {
        public var id: String
        public var title: String
        public var artist: String?
        public var album: String?
        public var albumId: String?
        public var discNumber: Int?
        public var trackNumber: Int?
        /// The length in seconds.
        public var duration: Double?

        /// The address in the form that the queue takes: `tonearm:track/ID`.
        public var address: String { ServiceAddress(.track, id).text }
    }

    /// An album or a playlist.
    public struct Group: Equatable, Sendable {
        public var list: CatalogueList
        public var title: String
        /// The artist of an album.
        public var artist: String?
        public var trackCount: Int?
    }

    public private(set) var tracks: [Track] = []
    /// Albums, then playlists.
    public private(set) var groups: [Group] = []
    /// The total number of tracks; `tracks` may have fewer.
    public private(set) var trackCount = 0
    /// The number of entries in a page of tracks, including unusable ones.
    package private(set) var entryCount = 0

    /// - Returns: nil when `body` is not the answer to a search. Entries without an id or a title are left out.
    package init?(parsing body: [UInt8]) {
        guard let json = try? JSONValue.parseForeign(body), let page = json["tracks"] else { return nil }
        self.init(page)
        groups = Self.groups(.album, json["albums"]) + Self.groups(.playlist, json["playlists"])
    }

    /// - Returns: nil when `body` is not a page of tracks.
    package init?(tracksIn body: [UInt8]) {
        guard let page = try? JSONValue.parseForeign(body) else { return nil }
        self.init(page)
    }

    private init?(_ page: JSONValue) {
        guard let items = page["items"]?.elements else { return nil }
        entryCount = items.count
        for item in items {
            guard let id = Self.id(item), let title = item["title"]?.string else { continue }
            tracks.append(
                Track(
                    id: id, title: title, artist: item["artist"]?.string, album: item["album"]?["title"]?.string,
                    albumId: item["album"].flatMap(Self.id), discNumber: Self.number(item["discNumber"]),
                    trackNumber: Self.number(item["trackNumber"]),
                    duration: item["duration"]?.number.flatMap { (0...1e9).contains($0) ? $0 : nil }))
        }
        trackCount = max(Self.number(page["totalNumberOfItems"]) ?? 0, tracks.count)
    }

    private static func groups(_ kind: CatalogueList.Kind, _ page: JSONValue?) -> [Group] {
        (page?["items"]?.elements ?? []).compactMap { item in
            guard let id = id(item), let title = item["title"]?.string else { return nil }
            return Group(
                list: CatalogueList(kind, id), title: title, artist: item["artist"]?.string,
                trackCount: number(item["numberOfTracks"]))
        }
    }

    /// The tracks grouped by album, in album order. The albums are in the order of their best tracks.
    public var tracksByAlbum: [Track] {
        var groups: [(albumId: String?, tracks: [Track])] = []
        for track in tracks {
            let group = groups.firstIndex { group in
                guard let first = group.albumId, let second = track.albumId else { return false }
                return first.hasSameBytes(as: second)
            }
            if let group { groups[group].tracks.append(track) } else { groups.append((track.albumId, [track])) }
        }
        return groups.flatMap { group in
            group.tracks.enumerated().sorted { first, second in
                let (left, right) = (Self.sortKey(first.element), Self.sortKey(second.element))
                return left == right ? first.offset < second.offset : left < right
            }.map { $0.element }
        }
    }

    private static func sortKey(_ track: Track) -> (disc: Int, track: Int) {
        (track.discNumber ?? 1, track.trackNumber ?? 0)
    }

    private static func number(_ value: JSONValue?) -> Int? {
        value?.integer.flatMap { Int(exactly: $0) }.flatMap { $0 >= 0 ? $0 : nil }
    }

    /// Returns the id, which is a number or a text that is allowed in an address.
    private static func id(_ item: JSONValue) -> String? {
        if let number = item["id"]?.integer { return "\(number)" }
        guard let text = item["id"]?.string, !text.utf8.isEmpty, text.utf8.count <= 256,
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return nil }
        return text
    }
}

/// A request for a part of the catalogue.
package struct CatalogueRequest {
    /// The path and query, to append to the service's address.
    var path: String

    package init(path: String) {
        self.path = path
    }

    package func transfer(_ service: ServiceSettings, token: String?) -> TransferRequest {
        let identity =
            token.map { HeaderField("Authorization", "Bearer \($0)") }
            ?? HeaderField("x-tidal-token", service.clientName)
        return TransferRequest(
            url: service.baseURL + path, headers: [HeaderField("Accept", "application/json"), identity])
    }
}
