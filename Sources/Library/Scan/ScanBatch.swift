import Database
import Manifests
import Media

/// The changes of a scan, which are written many at a time. A power cut loses the changes of the last transaction,
/// which the next scan finds again.
struct ScanBatch {
    enum Change {
        case tracks(ScannedFile)
        case tracksAreBack
        case tracksAreGone
        case playlist(FileStamp, PlaylistFile)
        case playlistIsBack
        case playlistIsGone
    }

    /// The number of changes in one transaction.
    private static let size = 500
    /// The number of changes after which albums are updated for the first time; it doubles each time. So the cost for
    /// an album of any size stays a few updates per track.
    private static let firstFinish = 500

    private let index: MusicIndex
    private let now: Int64?
    private let changed: () -> Void
    private var changes: [(FilePlace, Change)] = []
    private var count = 0
    private var nextFinish = ScanBatch.firstFinish

    init(_ index: MusicIndex, _ now: Int64?, _ changed: @escaping () -> Void) {
        self.index = index
        self.now = now
        self.changed = changed
    }

    mutating func add(_ place: FilePlace, _ change: Change) throws(DatabaseError) {
        changes.append((place, change))
        guard changes.count >= Self.size else { return }
        count += changes.count
        let finishes = count >= nextFinish
        if finishes { nextFinish = count * 2 }
        try store(finishes: finishes)
    }

    /// Writes the remaining changes.
    mutating func store() throws(DatabaseError) { try store(finishes: false) }

    private mutating func store(finishes: Bool) throws(DatabaseError) {
        guard !changes.isEmpty else { return }
        let (changes, now) = (changes, now)
        self.changes = []
        try index.write { (database) throws(DatabaseError) in
            let (rows, playlists) = (TrackRows(database), PlaylistRows(database))
            for (place, change) in changes {
                switch change {
                case .tracks(let file): try Self.store(file, place, now, database)
                case .tracksAreBack: try rows.setPresent(true, place)
                case .tracksAreGone: try rows.setPresent(false, place)
                case .playlist(let stamp, let playlist): try playlists.store(playlist, place, stamp)
                case .playlistIsBack: try playlists.setPresent(true, place)
                case .playlistIsGone: try playlists.setPresent(false, place)
                }
            }
            try rows.finish(albums: finishes)
        }
        changed()
    }

    private static func store(
        _ file: ScannedFile, _ place: FilePlace, _ now: Int64?, _ database: Database
    ) throws(DatabaseError) {
        let rows = TrackRows(database)
        // A former track of a cue sheet may not exist any more.
        if let first = file.tracks.first, let last = file.tracks.last {
            try rows.dropParts(of: place, outside: first.part...max(first.part, last.part))
        }
        for track in file.tracks { try rows.store(place, track, now: now ?? track.stamp.modifiedSeconds) }
        if file.tracks.first?.part ?? 0 > 0 { try SheetRows(database).store(file.music, of: place) }
    }
}
