import CLinux
import Media
import Platform
import Player
import Queue

/// The music at some paths.
package struct FoundMusic: Sendable {
    /// The files, in order. The thread of the search packs them: there may be 100,000, and the loop has other work.
    package var products = PackedProducts()
    /// The number of names below folders that cannot be read, and of missing entries of playlists and cue sheets. They
    /// are in the log.
    package var skipped = 0
    /// The mount points of the files, without the root file system.
    package var mountPoints: [String] = []

    package init() {}

    package init(files: [String], skipped: Int = 0) {
        products = PackedProducts(files.lazy.map { QueuedProduct(.track, $0) })
        self.skipped = skipped
    }

    package var count: Int { products.count }

    package mutating func add(_ more: FoundMusic) {
        products.append(contentsOf: more.products)
        skipped += more.skipped
        mountPoints += more.mountPoints
    }
}

/// Searches for the music of one request, on its own thread with low priority: a folder may be large, and its disk
/// asleep. `MusicSearches` starts it.
///
/// Safe to share: only the cancellation changes, and any thread may use it.
package final class MusicSearch: Sendable {
    private let paths: [String]
    private let limit: Int
    private let capacity: Int
    /// The base of lines in playlists that are relative to the root of the music.
    private let musicPaths: MusicURIs?
    let cancellation: Cancellation

    /// - Parameters:
    ///   - paths: absolute paths.
    ///   - limit: more files than this are an error.
    ///   - capacity: the capacity of the queue, for the error message.
    ///   - musicPaths: the base of lines in playlists that are relative to the root of the music.
    /// - Throws: when the process has no file descriptor left.
    package init(
        _ paths: [String], limit: Int, capacity: Int = PlayQueue.capacity, musicPaths: MusicURIs? = nil
    ) throws(SystemError) {
        self.paths = paths
        self.limit = limit
        self.capacity = capacity
        self.musicPaths = musicPaths
        cancellation = try Cancellation()
    }

    /// Cancels the search, which then finds nothing. Any thread.
    package func cancel() { cancellation.cancel() }
    package var isCancelled: Bool { cancellation.isCancelled }

    /// Returns the music, or the error of the first path that has none. Blocks on the medium.
    package func run() -> Result<FoundMusic, RemoteFailure> {
        let paths = musicPaths
        var folders = MusicFolder(limit: limit, cancellation: cancellation, musicPath: { paths?.musicPath($0) })
        do throws(RemoteFailure) {
            for path in self.paths { try add(path, to: &folders) }
        } catch {
            return .failure(error)
        }
        let contents = folders.contents
        for problem in contents.problems { Log.warning("skipped while looking for music: \(problem.message)") }
        var music = FoundMusic(files: contents.files, skipped: contents.problemCount)
        music.mountPoints = contents.mountPoints
        return .success(music)
    }

    private static let cancelled = RemoteFailure(.system, "the search for music was cancelled")

    private func add(_ path: String, to folders: inout MusicFolder) throws(RemoteFailure) {
        if isCancelled { throw Self.cancelled }
        if ServiceAddress.isMeant(by: path), ServiceAddress(path) == nil {
            throw RemoteFailure(
                .noMusic, "\(path) is not the address of a product. It is tonearm:track/ID or tonearm:video/ID.")
        }
        let kind = FileKind(at: path)
        if kind == .other { throw RemoteFailure(.noMusic, "\(path) is a device, a pipe or a socket, not a file") }
        let isList = MusicFolder.isList(path)
        if kind == .file, !isList { try check(path) }
        let (files, problems) = (folders.contents.files.count, folders.contents.problemCount)
        let wasVisited = folders.hasVisited(path)
        do throws(MusicFolder.Stop) { try folders.add(path) } catch {
            switch error {
            case .cancelled: throw Self.cancelled
            case .tooMany: throw RemoteFailure(.full(limit: capacity))
            case .unreadable(let error): throw RemoteFailure(MusicProblem(error, at: path))
            case .kernelFolder:
                throw RemoteFailure(.noMusic, "\(path): a folder of the system, which has no music in it")
            }
        }
        guard kind != .file || isList, !ServiceAddress.isMeant(by: path), !wasVisited,
            folders.contents.files.count == files
        else { return }
        if folders.contents.problemCount > problems, let problem = folders.contents.problems.last {
            throw RemoteFailure(problem)
        }
        let place = isList ? "playlist" : "folder"
        throw RemoteFailure(.noMusic, "\(path): no music in this \(place). Supported: \(AudioFormats.supported).")
    }

    /// Checks that the file can be read and begins like a supported format. Files below a folder are chosen by their
    /// names: opening each of them would take minutes on a slow disk.
    private func check(_ path: String) throws(RemoteFailure) {
        let bytes: FileByteSource
        do throws(SystemError) { bytes = try FileByteSource(path: path, cancellation: cancellation) } catch {
            throw RemoteFailure(MusicProblem(error, at: path))
        }
        do throws(MediaError) { _ = try AudioFile.container(of: bytes) } catch {
            switch error {
            case .notAudio(let looksLike):
                let guess = looksLike.map { " (looks like \($0))" } ?? ""
                throw RemoteFailure(.noMusic, "\(path): not audio\(guess). Supported: \(AudioFormats.supported).")
            case .unsupported(let what):
                throw RemoteFailure(
                    .noMusic, "\(path): \(what) is not supported. Supported: \(AudioFormats.supported).")
            case .empty: throw RemoteFailure(.noMusic, "\(path): the file is empty.")
            case .source(.medium(let error)): throw RemoteFailure(MusicProblem(error, at: path))
            // These errors concern data after the first bytes.
            case .source, .damaged, .protected, .missingKey, .license: break
            }
        }
    }
}

extension RemoteFailure {
    fileprivate init(_ problem: MusicProblem) {
        self.init(problem.systemError == nil ? .noMusic : .noSuchFile, problem.message)
    }
}
