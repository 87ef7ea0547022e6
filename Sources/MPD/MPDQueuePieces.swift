import Appliance
import Player
import Queue

/// The songs of the queue at some positions, 250 at a time. A long answer is never in memory as a whole.
///
/// Thread: that of queries. `@unchecked Sendable` is safe because there is one call at a time.
final class MPDQueuePieces: MPDPieces, @unchecked Sendable {
    enum Form {
        case songs
        /// Only positions and ids.
        case places
        /// `0:file: URI`.
        case names
    }

    private struct Entry {
        var place: Int
        var id: EntryID
        var path: String
        var priority: UInt8
    }

    /// The source's description of the current entry, because the library has no products of the service.
    private struct Announced {
        var id: EntryID
        var context: PlaybackContext
    }

    private static let count = 250

    private let queue: PlayQueue
    private let priorities: [EntryID: UInt8]
    private let paths: MusicURIs
    /// The positions to send. `Int32` takes half of the memory of `Int`.
    private var places: ArraySlice<Int32>
    private let tags: MPDTags
    private let form: Form
    private let announced: Announced?
    /// nil: all songs.
    var selection: MPDFilter?

    init(_ player: MPDPlayer, places: some Sequence<Int>, tags: MPDTags, form: Form) {
        queue = player.contents
        priorities = player.priorities
        paths = player.paths
        self.places = places.map { Int32(clamping: $0) }[...]
        self.tags = tags
        self.form = form
        let context = player.queue.isAnnounced ? player.daemon.player.playbackEngine.playbackContext : nil
        announced = queue.current.flatMap { id in context.map { Announced(id: id, context: $0) } }
    }

    func next(_ database: MPDDatabase?) throws(MPDFailure) -> [UInt8]? {
        guard !places.isEmpty else { return nil }
        let entries = take()
        var output = MPDOutput(capacity: form == .songs ? MPDPages.pieceSize : 0)
        switch form {
        case .places:
            for entry in entries {
                output.pair("cpos", entry.place)
                output.pair("Id", entry.id.number)
            }
        case .names:
            for entry in entries {
                output.append(Array("\(entry.place):".utf8))
                output.file(uri(entry))
            }
        case .songs:
            if let database {
                try database.forEachSong(at: entries.map { $0.path }) { index, song in
                    write(entries[index], &song, to: &output)
                }
            } else {
                for entry in entries {
                    var song = MPDSong(uri: uri(entry))
                    write(entry, &song, to: &output)
                }
            }
        }
        return output.bytes
    }

    private func take() -> [Entry] {
        let order = queue.playOrder
        let taken = places.prefix(Self.count)
        places = places.dropFirst(Self.count)
        return taken.compactMap { place in
            let place = Int(place)
            let id = order[place]
            guard let product = queue.product(id) else { return nil }
            return Entry(place: place, id: id, path: product.productId, priority: priorities[id] ?? 0)
        }
    }

    private func write(_ entry: Entry, _ song: inout MPDSong, to output: inout MPDOutput) {
        song.priority = Int(entry.priority)
        if let selection, !song.matches(selection) { return }
        output.append { song.write(to: &$0, tags) }
        if song.details == nil, let announced, announced.id == entry.id { write(announced.context, to: &output) }
        output.pair("Pos", entry.place)
        output.pair("Id", entry.id.number)
        if entry.priority > 0 { output.pair("Prio", entry.priority) }
    }

    private func write(_ context: PlaybackContext, to output: inout MPDOutput) {
        if let artist = context.artist, tags.contains(MPDTags(.artist)) { output.pair("Artist", artist) }
        if let album = context.album, tags.contains(MPDTags(.album)) { output.pair("Album", album) }
        if let title = context.title, tags.contains(MPDTags(.title)) { output.pair("Title", title) }
        guard let duration = context.duration else { return }
        output.pair("Time", Int64(max(0, min(duration, 1e9)) + 0.5))
        output.seconds("duration", duration)
    }

    private func uri(_ entry: Entry) -> String { paths.shownURI(ofPath: entry.path) }
}
