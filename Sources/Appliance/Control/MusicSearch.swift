import Platform
import Player

/// Finds the music at paths on a thread of its own: a folder may be large, and its disk asleep.
enum MusicSearch {
    /// - Parameters:
    ///   - paths: absolute.
    ///   - found: called on the loop's thread with the files in order, or with what is wrong with the first path from
    ///     which nothing can be played.
    static func start(
        _ paths: [String], loop: EventLoop, _ found: @escaping @Sendable (Result<[String], ControlFailure>) -> Void
    ) {
        do throws(SystemError) {
            _ = try NamedThread.start(name: "music search", stackSize: 256 << 10) {
                let result = files(at: paths)
                loop.post { found(result) }
            }
        } catch {
            let failure = ControlFailure("system", error.description)
            loop.post { found(.failure(failure)) }
        }
    }

    private static func files(at paths: [String]) -> Result<[String], ControlFailure> {
        var files: [String] = []
        for path in paths {
            if FileKind(at: path) == .other {
                return .failure(ControlFailure("no-music", "\(path) is a device, a pipe or a socket, not a file"))
            }
            do throws(SystemError) {
                let found = try MusicFolder.contents(of: path)
                if found.files.isEmpty, let error = found.unreadable.first { throw error }
                for error in found.unreadable { Log.warning("music was left out: \(error.description)") }
                if found.files.isEmpty {
                    let message = "\(path): no music in this folder. Supported: FLAC, WAV, AIFF."
                    return .failure(ControlFailure("no-music", message))
                }
                files += found.files
            } catch {
                return .failure(ControlFailure("no-such-file", "\(error.subject ?? path): \(error.reason)"))
            }
        }
        return .success(files)
    }
}
