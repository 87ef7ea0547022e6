import Database

/// Conditions on tracks, as a value: the only way for other modules to select tracks.
///
///     index.tracks(TrackQuery(.all([.albumTitle("Desertshore"), .text(.artist, "Nico")])))
///
/// SQLite evaluates the condition of each case along an index.
package indirect enum TrackFilter: Sendable {
    case every
    /// The tracks that fulfil all of these conditions.
    case all([TrackFilter])
    case id(Int64)
    case content(Int64)
    case album(Int64)
    /// The tracks of albums with exactly this title.
    case albumTitle(String)
    /// The tracks with a `SharedName`.
    case name(Int64)
    /// The tracks that have exactly this text as a name of a kind.
    case text(NameKind, String)
    /// The tracks of a folder, by its path, without those of the folders in it.
    case folder(String)
    /// A track of a file.
    /// - part: the number in a cue sheet; 0 for a whole file.
    case file(FilePlace, part: Int64)
    /// The tracks at a path: of a file, or of a cue sheet that is the folder in the path.
    case path(String)
    /// The tracks whose loudness the origin has not measured.
    case unmeasured
}

/// SQL, and the values for its `?` in their order.
struct BoundSQL {
    var text: String
    var values: [DatabaseValue]

    init(_ text: String, _ values: DatabaseValue...) { (self.text, self.values) = (text, values) }
}

extension TrackFilter {
    private static let isInFolder = "folder = (SELECT id FROM folder WHERE path = ?)"
    private static let isFile = "\(isInFolder) AND file = ?"

    /// The conditions after `FROM track`, all of which must hold.
    var conditions: [BoundSQL] {
        switch self {
        case .every: []
        case .all(let filters): filters.flatMap { $0.conditions }
        case .id(let id): [BoundSQL("id = ?", .integer(id))]
        case .content(let content): [BoundSQL("content = ?", .integer(content))]
        case .album(let album): [BoundSQL("album_id = ?", .integer(album))]
        case .albumTitle(let title): [BoundSQL("album_id IN (SELECT id FROM album WHERE title = ?)", .text(title))]
        case .name(let name):
            [BoundSQL("id IN (SELECT track FROM track_name WHERE track_name.name = ?)", .integer(name))]
        case .text(let kind, let text):
            [
                BoundSQL(
                    """
                    id IN (SELECT track FROM track_name
                        WHERE name = (SELECT id FROM name WHERE kind = \(kind.rawValue) AND text = ?))
                    """, .text(text))
            ]
        case .folder(let path): [BoundSQL(Self.isInFolder, .text(FilePlace(folder: path, file: "").folder))]
        case .file(let place, let part):
            [BoundSQL("\(Self.isFile) AND part = ?", .text(place.folder), .text(place.file), .integer(part))]
        case .path(let path): [Self.condition(at: FilePlace(path))]
        case .unmeasured: [BoundSQL("NOT is_measured")]
        }
    }

    private static func condition(at place: FilePlace) -> BoundSQL {
        let sheet = FilePlace(place.folder)
        return BoundSQL(
            "(\(isFile) OR \(isFile))", .text(place.folder), .text(place.file), .text(sheet.folder), .text(sheet.file))
    }
}
