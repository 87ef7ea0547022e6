import Appliance
import Library
import Platform
import Queue

/// The work of a command that waits for another thread. Commands of a list with the same kind of work are carried out
/// together. A list of thousands is then one request to the thread, and one change.
enum MPDWork {
    case music(MPDMusicWork)
    case playlist(MPDPlaylistWork)

    /// The maximum number of commands with answers that are carried out together, because the answers wait in memory.
    static let mostWithAnswers = 8192

    /// Returns whether the work of the next command can be carried out together with this one.
    func joins(_ next: MPDWork) -> Bool {
        switch (self, next) {
        case (.music, .music): true
        case (.playlist(let one), .playlist(let other)): one.name.utf8.elementsEqual(other.name.utf8)
        default: false
        }
    }
}

/// Music that is found in the library, and then used in the queue.
struct MPDMusicWork {
    /// Runs on the thread of queries.
    let find: @Sendable (MPDDatabase?) throws(MPDFailure) -> FoundMusic
    /// Runs on the daemon's thread.
    let use: (FoundMusic) throws(MPDFailure) -> MPDOutput
}

/// A change of a stored playlist.
struct MPDPlaylistWork {
    let name: String
    /// Finds the music to add, on the thread of queries; nil when no music has to be found.
    var find: (@Sendable (MPDDatabase?) throws(MPDFailure) -> [String])?
    /// Makes the change from the paths that were found.
    let change: @Sendable ([String]) -> PlaylistChange
}

extension MPDPlayer {
    typealias WorkAnswer = ([Result<MPDOutput, MPDFailure>]) -> Void

    /// Carries out work of one kind.
    /// - Parameter answer: gets the results in order, up to the first failure.
    func carryOut(_ works: [MPDWork], _ answer: @escaping WorkAnswer) {
        var (music, changes) = ([MPDMusicWork](), [MPDPlaylistWork]())
        for work in works {
            switch work {
            case .music(let work): music.append(work)
            case .playlist(let work): changes.append(work)
            }
        }
        if music.isEmpty { carryOut(changes, answer) } else { carryOut(music, answer) }
    }

    // MARK: The queue

    private func carryOut(_ works: [MPDMusicWork], _ answer: @escaping WorkAnswer) {
        look(works.map { $0.find }, size: { $0.count }) { [self] found, failure in
            let results = queue.gather {
                var results: [Result<MPDOutput, MPDFailure>] = []
                for (work, music) in zip(works, found) {
                    do throws(MPDFailure) { results.append(.success(try work.use(music))) } catch {
                        results.append(.failure(error))
                        break
                    }
                }
                return results
            }
            answer(failure.map { results.count < found.count ? results : results + [.failure($0)] } ?? results)
        }
    }

    /// The maximum number of queries, and about the maximum number of songs, before other queries have their turn.
    private static var lookLimit: Int { 64 }
    private static var songLimit: Int { 4096 }

    /// Runs the searches one after the other, until one fails or more music was found than the queue can hold. Other
    /// queries have their turns in between.
    private func look<Value: Sendable>(
        _ finds: [@Sendable (MPDDatabase?) throws(MPDFailure) -> Value], size: @escaping @Sendable (Value) -> Int,
        _ answer: @escaping ([Value], MPDFailure?) -> Void
    ) {
        var (found, total) = ([Value](), 0)
        func goOn() {
            let part = finds[found.count..<min(found.count + Self.lookLimit, finds.count)]
            query { (result: Result<(values: [Value], failure: MPDFailure?), MPDFailure>) in
                // Only single commands fail, so the whole result is always a success.
                guard case .success(let looked) = result else { return }
                found += looked.values
                total += looked.values.reduce(0) { $0 + size($1) }
                if looked.failure != nil || found.count == finds.count || total > PlayQueue.capacity {
                    return answer(found, looked.failure)
                }
                goOn()
            } _: { database in
                var (values, songs) = ([Value](), 0)
                for find in part where songs < Self.songLimit {
                    do throws(MPDFailure) {
                        let value = try find(database)
                        songs += size(value)
                        values.append(value)
                    } catch {
                        return .success((values, error))
                    }
                }
                return .success((values, nil))
            }
        }
        goOn()
    }

    // MARK: Stored playlists

    private func carryOut(_ works: [MPDPlaylistWork], _ answer: @escaping WorkAnswer) {
        guard let library = daemon.library else { return answer([.failure(.noPlaylists)]) }
        let finds = works.map { work -> @Sendable (MPDDatabase?) throws(MPDFailure) -> [String] in
            if let find = work.find { return find }
            return { _ in [] }
        }
        look(finds, size: { $0.count }) { [self] found, failure in
            let changes = zip(works, found).map { $0.change($1) }
            if changes.isEmpty, let failure { return answer([.failure(failure)]) }
            let (name, loop, folder) = (works[0].name, daemon.loop, library.playlists)
            // Safe: the other thread passes the closure back and does not call it.
            nonisolated(unsafe) let answer = answer
            library.changePlaylists {
                var (count, refusal) = (0, failure)
                do throws(PlaylistFailure) {
                    let outcome = try folder.apply(changes, to: name)
                    count = outcome.count
                    refusal = outcome.failure.map { MPDFailure($0) } ?? failure
                } catch {
                    refusal = MPDFailure(error)
                }
                let (done, reason) = (count, refusal)
                loop.post { [self] in
                    if done > 0 { daemon.observers.notify(.playlists(name: name)) }
                    let results = [Result<MPDOutput, MPDFailure>](repeating: .success(MPDOutput()), count: done)
                    answer(reason.map { results + [.failure($0)] } ?? results)
                }
            }
        }
    }
}
