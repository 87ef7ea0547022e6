import Database
import Library
import Platform
import Player

/// Requests about plays, the history and favourites: they combine rows of the state with tracks of the index.
extension LibraryConductor {
    typealias Pass = @Sendable (Result<LibraryReply, RemoteFailure>) -> Void

    /// The maximum number of tracks in the list of played ones.
    private static let mostPlayed = 1000

    /// Counts a play of the music at a path or address, and adds it to the history. Music that is not in the library
    /// has no count.
    func count(_ path: String) {
        loop.assertOnLoop()
        withIndex { [storage] index in
            let content = index.flatMap { $0.content(playing: path) }
            let now = SystemTime.clockMilliseconds() / 1000
            storage.write(urgency: .canWait, answerOn: nil) { (database) throws(DatabaseError) in
                try PlayRows(database).record(content, path, at: now)
            } answer: { error in
                if let error { Log.warning("a play was not counted: \(error.description)") }
            }
        }
    }

    // MARK: Lists

    /// Lists the tracks that were heard last and still exist.
    func listPlayed(_ page: LibraryRequest.Page, _ answer: @escaping Pass) {
        rows([], answer) { database throws(DatabaseError) in
            try PlayRows(database).last(limit: Int64(Self.mostPlayed))
        } list: { counts, index, favourites in
            var entries: [LibraryEntry] = []
            for count in counts {
                var music = ListedMusic(count.content, once: "", in: index, favourites)
                guard music.track != nil else { continue }
                music.plays = count
                entries.append(.music(music))
            }
            let part = Array(entries.dropFirst(page.from).prefix(page.count))
            return .entries(ListPart(total: Int64(entries.count), entries: part), from: page.from)
        }
    }

    func listHistory(_ page: LibraryRequest.Page, _ answer: @escaping Pass) {
        rows(ListPart(total: 0, entries: []), answer) { database throws(DatabaseError) in
            try HistoryRows(database).page(page.page)
        } list: { part, index, favourites in
            let entries = part.entries.map { heard -> LibraryEntry in
                var music =
                    if let content = heard.content {
                        ListedMusic(content, once: heard.address, in: index, favourites)
                    } else {
                        ListedMusic(at: heard.address, in: index, favourites)
                    }
                music.heard = heard.time
                return .music(music)
            }
            return .entries(ListPart(total: part.total, entries: entries), from: page.from)
        }
    }

    func listFavourites(_ page: LibraryRequest.Page, _ answer: @escaping Pass) {
        rows(ListPart(total: 0, entries: []), answer) { database throws(DatabaseError) in
            try FavouriteRows(database).page(page.page)
        } list: { part, index, favourites in
            let entries = part.entries.map { favourite -> LibraryEntry in
                var music = ListedMusic(favourite.key, once: favourite.address, in: index, favourites)
                music.isFavourite = true
                return .music(music)
            }
            return .entries(ListPart(total: part.total, entries: entries), from: page.from)
        }
    }

    /// Reads rows on the storage thread, and makes a list of them on the thread of queries.
    /// - Parameter none: the rows to use when the state cannot be read.
    private func rows<Rows: Sendable>(
        _ none: Rows, _ answer: @escaping Pass,
        _ read: @escaping @Sendable (Database) throws(DatabaseError) -> Rows,
        list: @escaping @Sendable (Rows, MusicIndex?, FavouriteSet) -> LibraryReply
    ) {
        storage.query { [self] database in
            let rows: Rows
            do throws(DatabaseError) { rows = if let database { try read(database) } else { none } } catch {
                return answer(.failure(RemoteFailure(.system, "the state cannot be read: \(error.description)")))
            }
            withIndex { [favourites] index in answer(.success(list(rows, index, favourites))) }
        }
    }

    // MARK: Favourites

    /// Adds the music at a path or address to the favourites, or removes it.
    /// - Parameter isOn: nil to toggle.
    func setFavourite(_ path: String, _ isOn: Bool?, _ answer: @escaping Pass) {
        withIndex { [self] index in
            do throws(RemoteFailure) {
                let key = try Self.favouriteKey(of: path, in: index)
                storage.query { [self] database in
                    write(isOn, Favourite(key: key, address: path), database, answer)
                }
            } catch {
                answer(.failure(error))
            }
        }
    }

    private static func favouriteKey(of path: String, in index: MusicIndex?) throws(RemoteFailure) -> Int64 {
        if let address = WebFileAddress(path) {
            // Refuses an address with a password, because lists would show it.
            guard address.shown.utf8.elementsEqual(path.utf8) else {
                throw RemoteFailure(.noMusic, "\(address.shown): an address with a user name is not played")
            }
            return FavouriteRows.key(of: path)
        }
        if ServiceAddress(path) != nil { return FavouriteRows.key(of: path) }
        guard let content = index.flatMap({ $0.content(playing: path) }) else {
            throw RemoteFailure(
                .noMusic, "\(path): not in the library, which has the music in [library] folders, and no address")
        }
        return content
    }

    /// Storage thread.
    private func write(
        _ isOn: Bool?, _ favourite: Favourite, _ database: Database?, _ answer: @escaping Pass
    ) {
        var (isFavourite, count) = (favourites.contains(favourite.key), Int64(0))
        do throws(DatabaseError) {
            if let database {
                isFavourite = try FavouriteRows(database).contains(favourite.key)
                count = try FavouriteRows(database).count
            }
        } catch {
            return answer(.failure(RemoteFailure(.system, "the favourites cannot be read: \(error.description)")))
        }
        let isOn = isOn ?? !isFavourite
        if isOn, !isFavourite, count >= FavouriteRows.most {
            return answer(
                .failure(RemoteFailure(.listFull, "there are \(count) favourites, which is the limit: remove some")))
        }
        let now = SystemTime.clockMilliseconds() / 1000
        storage.write(answerOn: nil) { (database) throws(DatabaseError) in
            try FavouriteRows(database).set(isOn, favourite, at: now)
        } answer: { [favourites] error in
            if let error {
                let message = "the favourite cannot be stored: \(error.description)"
                return answer(.failure(RemoteFailure(.system, message)))
            }
            favourites.set(favourite.key, isOn)
            answer(.success(.favourite(path: favourite.address, isOn: isOn)))
        }
    }
}
