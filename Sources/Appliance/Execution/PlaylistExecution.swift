import Library
import Platform
import Queue

/// Carries out requests about stored playlists, on the library's threads of playlists: the files are on a medium.
///
/// Thread: the daemon's. Answers follow later on the same thread.
package struct PlaylistExecution {
    package typealias Answer = (Result<PlaylistReply, RemoteFailure>) -> Void

    /// nil when the system lacks its threads.
    let library: LibraryConductor?
    let queue: QueueConductor
    let loop: EventLoop
    /// Called with the name of a playlist that has changed.
    let changed: (String) -> Void

    func perform(_ request: PlaylistRequest, _ answer: @escaping Answer) {
        let queue = queue.contents
        switch request {
        case .all(let page):
            run(answer) { folder, _ throws(PlaylistFailure) in
                let all = try folder.all()
                let part = all.dropFirst(page.from).prefix(page.count)
                return .all(
                    ListPart(
                        total: Int64(all.count),
                        entries: part.map { ListedPlaylist(name: $0.name, modified: $0.modified) }), from: page.from)
            }
        case .entries(let name, let page):
            let favourites = library?.favourites
            run(answer) { folder, index throws(PlaylistFailure) in
                let (count, paths) = try folder.entries(of: name, page.from..<(page.from + page.count))
                let entries = paths.map { LibraryEntry.music(ListedMusic(at: $0, in: index, favourites)) }
                return .entries(
                    ListPart(total: Int64(count), entries: entries), from: page.from, path: try folder.path(of: name))
            }
        case .save(let name, let replaces):
            run(changing: name, answer) { folder, _ throws(PlaylistFailure) in
                let paths = Self.paths(of: queue)
                if replaces { try folder.replace(name, with: paths) } else { try folder.create(name, with: paths) }
                return .added(paths.count, skipped: 0)
            }
        case .remove(let range, let name):
            run(changing: name, answer) { folder, _ throws(PlaylistFailure) in
                .removed(try folder.removeEntries(range, of: name))
            }
        case .move(let from, let to, let name):
            run(changing: name, answer) { folder, _ throws(PlaylistFailure) in
                try folder.moveEntry(from: from, to: to, of: name)
                return .done
            }
        case .rename(let name, let newName):
            run(changing: newName, answer) { folder, _ throws(PlaylistFailure) in
                try folder.rename(name, to: newName)
                return .done
            }
        case .delete(let name):
            run(changing: name, answer) { folder, _ throws(PlaylistFailure) in
                try folder.remove(name)
                return .done
            }
        }
    }

    /// Adds found music at the end of a playlist, and creates a missing one.
    package func add(_ music: FoundMusic, to name: String, _ answer: @escaping Answer) {
        run(changing: name, answer) { folder, _ throws(PlaylistFailure) in
            try folder.add(music.products.ids, to: name)
            return .added(music.count, skipped: music.skipped)
        }
    }

    /// Returns the failure of a search for music that is added to a playlist, not to the queue.
    package static func failure(_ failure: RemoteFailure) -> RemoteFailure {
        failure.reason == .queueFull ? RemoteFailure(PlaylistFailure.full(.entries)) : failure
    }

    /// Returns the paths in the order of playing.
    package static func paths(of queue: PlayQueue) -> [String] {
        var paths: [String] = []
        paths.reserveCapacity(queue.count)
        // A few at a time: an entry takes more memory than its path.
        for start in stride(from: 0, to: queue.count, by: 1000) {
            paths += queue.entries(start..<(start + 1000)).map { $0.product.productId }
        }
        return paths
    }

    /// Runs `body` on the thread that reads playlists, or on the one that changes them.
    /// - Parameter name: the playlist that `body` changes.
    private func run(
        changing name: String? = nil, _ answer: @escaping Answer,
        _ body: @escaping @Sendable (PlaylistFolder, MusicIndex?) throws(PlaylistFailure) -> PlaylistReply
    ) {
        loop.assertOnLoop()
        guard let library else {
            return answer(.failure(RemoteFailure(.system, "the playlists cannot be used: see the problems")))
        }
        // Safe: the other thread passes both closures back to the loop and does not call them.
        nonisolated(unsafe) let answer = answer
        nonisolated(unsafe) let changed = changed
        let (loop, folder) = (loop, library.playlists)
        @Sendable func work() {
            let result: Result<PlaylistReply, RemoteFailure>
            do throws(PlaylistFailure) { result = .success(try body(folder, library.openedIndex)) } catch {
                result = .failure(RemoteFailure(error))
            }
            loop.post {
                if let name, case .success = result { changed(name) }
                answer(result)
            }
        }
        if name == nil { library.readPlaylists(work) } else { library.changePlaylists(work) }
    }
}
