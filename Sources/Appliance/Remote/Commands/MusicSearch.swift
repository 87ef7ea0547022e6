import CLinux
import Media
import Platform
import Player

/// The music at some paths.
struct FoundMusic: Equatable, Sendable {
    /// In order.
    var files: [String] = []
    /// Names below folders that nothing could be read by. The log has them.
    var skipped = 0

    mutating func add(_ more: FoundMusic) {
        files += more.files
        skipped += more.skipped
    }
}

/// Finds the music at paths on a thread of its own: a folder may be large, and its disk asleep.
enum MusicSearch {
    /// - Parameters:
    ///   - paths: absolute.
    ///   - found: called on the loop's thread with what is there, or with what is wrong with the first path from which
    ///     nothing can be played.
    static func start(
        _ paths: [String], loop: EventLoop, _ found: @escaping @Sendable (Result<FoundMusic, RemoteFailure>) -> Void
    ) {
        do throws(SystemError) {
            _ = try NamedThread.start(name: "music search", stackSize: 256 << 10) {
                let result = music(at: paths)
                loop.post { found(result) }
            }
        } catch {
            let failure = RemoteFailure("system", error.description)
            loop.post { found(.failure(failure)) }
        }
    }

    private static func music(at paths: [String]) -> Result<FoundMusic, RemoteFailure> {
        var music = FoundMusic()
        do throws(RemoteFailure) {
            for path in paths { music.add(try self.music(at: path)) }
            return .success(music)
        } catch {
            return .failure(error)
        }
    }

    private static func music(at path: String) throws(RemoteFailure) -> FoundMusic {
        switch FileKind(at: path) {
        case .other: throw RemoteFailure("no-music", "\(path) is a device, a pipe or a socket, not a file")
        case .file:
            try check(path)
            return FoundMusic(files: [path])
        case .folder, nil: return try music(inFolder: path)
        }
    }

    private static func music(inFolder path: String) throws(RemoteFailure) -> FoundMusic {
        do throws(SystemError) {
            let found = try MusicFolder.contents(of: path)
            if found.files.isEmpty, let error = found.unreadable.first { throw error }
            for error in found.unreadable { Log.warning("music was left out: \(error.description)") }
            if !found.files.isEmpty { return FoundMusic(files: found.files, skipped: found.unreadable.count) }
        } catch {
            throw RemoteFailure(unreadable: path, error)
        }
        throw RemoteFailure("no-music", "\(path): no music in this folder. Supported: FLAC, WAV, AIFF.")
    }

    /// Whether the file can be read and begins like something that can be played. Those below a folder go by their
    /// names: to open each of them would take minutes on a slow disk.
    private static func check(_ path: String) throws(RemoteFailure) {
        let bytes: FileByteSource
        do throws(SystemError) { bytes = try FileByteSource(path: path) } catch {
            throw RemoteFailure(unreadable: path, error)
        }
        do throws(MediaError) { _ = try AudioFile.container(of: bytes) } catch {
            switch error {
            case .notAudio(let looksLike):
                let guess = looksLike.map { " (looks like \($0))" } ?? ""
                throw RemoteFailure("no-music", "\(path): not audio\(guess). Supported: FLAC, WAV, AIFF.")
            case .empty: throw RemoteFailure("no-music", "\(path): the file is empty.")
            case .source(.system(let error)): throw RemoteFailure(unreadable: path, error)
            // Of what lies behind the first bytes.
            case .source(.cancelled), .unsupported, .damaged: break
            }
        }
    }
}

extension RemoteFailure {
    fileprivate init(unreadable path: String, _ error: SystemError) {
        let reason = error.code == EILSEQ ? "the name is not UTF-8; rename it" : error.reason
        self.init("no-such-file", "\(error.subject ?? path): \(reason)")
    }
}
