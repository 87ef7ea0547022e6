import Platform
import Player

/// `tonearm search`: searches the catalogue of the service.
struct SearchCommand {
    private static let entryLimit = 50

    private let arguments: Arguments
    private let words: String
    private let json: Bool
    private let console = Console()

    init(_ words: [String]) throws(UsageError) {
        arguments = try Arguments(parsing: words, knowing: ServiceAccess.options + [.init("--json")])
        self.words = try ServiceSearch.words(arguments.operands, "search")
        try ServiceAccess.check(arguments)
        json = arguments.has("--json")
    }

    /// - Returns: the exit code.
    func run() -> Int32 {
        let matches: CatalogueMatches
        do throws(ServiceAccess.Problem) {
            matches = try ServiceSearch(.toCatalogue(arguments)).matches(words, limit: Self.entryLimit)
        } catch {
            for line in error.lines { console.complain(line) }
            return error.exitCode
        }
        for track in matches.tracks { console.print(json ? Self.json(track) : Self.text(track)) }
        for group in matches.groups { console.print(json ? Self.json(group) : Self.text(group)) }
        if matches.tracks.isEmpty, matches.groups.isEmpty {
            console.complain("nothing found for: \(words)")
            return ExitCode.failed
        }
        let more = matches.trackCount - matches.tracks.count
        if more > 0, !json { console.complain("note: \(more) more tracks; use more words") }
        return ExitCode.fine
    }

    private static func json(_ track: CatalogueMatches.Track) -> String {
        let value: JSONValue = [
            "product": .string(track.address), "title": .string(track.title), "artist": json(track.artist),
            "album": json(track.album), "duration": track.duration.map { .real($0) } ?? .null,
        ]
        return value.serialized()
    }

    private static func json(_ group: CatalogueMatches.Group) -> String {
        let value: JSONValue = [
            "product": .string(group.list.text), "title": .string(group.title), "artist": json(group.artist),
            "tracks": group.trackCount.map { JSONValue($0) } ?? .null,
        ]
        return value.serialized()
    }

    private static func json(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }

    /// `tonearm:track/7  Title - Artist - Album  3:21`
    private static func text(_ track: CatalogueMatches.Track) -> String {
        var names = track.title
        for name in [track.artist, track.album] { if let name { names += " - \(name)" } }
        var line = "\(track.address)  \(names)"
        if let duration = track.duration {
            let seconds = Int(duration.rounded())
            line += "  \(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60)"
        }
        return DisplayText.visible(line)
    }

    /// `tonearm:album/3  Album - Artist  12 tracks`
    private static func text(_ group: CatalogueMatches.Group) -> String {
        var line = "\(group.list.text)  \(group.title)"
        if let artist = group.artist { line += " - \(artist)" }
        if let count = group.trackCount { line += count == 1 ? "  1 track" : "  \(count) tracks" }
        return DisplayText.visible(line)
    }
}

/// A search in the service's catalogue, for commands.
struct ServiceSearch {
    /// The most tracks that are added to the queue at once.
    static let mostAdded = 50

    private let access: ServiceAccess

    init(_ access: ServiceAccess) { self.access = access }

    /// Joins the words of a command line into one text.
    static func words(_ operands: [String], _ command: String) throws(UsageError) -> String {
        let text = operands.joined(separator: " ")
        guard text.utf8.contains(where: { $0 > 0x20 }) else {
            throw UsageError("\(command) needs words of titles, artists or albums.")
        }
        return text
    }

    func matches(_ words: String, limit: Int) throws(ServiceAccess.Problem) -> CatalogueMatches {
        let cancellation: Cancellation
        do throws(SystemError) { cancellation = try Cancellation() } catch {
            throw ServiceAccess.Problem(lines: [error.description])
        }
        do throws(PlayerError) {
            return try access.account.search(words, limit: limit, cancellation: cancellation)
        } catch {
            throw ServiceAccess.Problem(lines: ["\(access.address): \(error.message)"])
        }
    }

    /// Returns the tracks for the queue: albums in the order of the best match, and each in its own order.
    /// - Throws: when there is no track, or there are more than `mostAdded`.
    func tracksToAdd(_ words: String) throws(ServiceAccess.Problem) -> [String] {
        let matches = try matches(words, limit: Self.mostAdded)
        if matches.tracks.isEmpty { throw ServiceAccess.Problem(lines: ["nothing found for: \(words)"]) }
        guard matches.trackCount <= Self.mostAdded, matches.tracks.count == matches.trackCount else {
            let count = matches.trackCount
            throw ServiceAccess.Problem(
                lines: ["\(count) tracks found, at most \(Self.mostAdded) are added at once: use more words."])
        }
        return matches.tracksByAlbum.map { $0.address }
    }
}
