import Platform

/// The logins that this process has refreshed, by the paths of their files. A refresh is no other login: what waits for
/// one is not retried because of it.
///
/// Any thread.
enum OwnRefreshes {
    private enum State {
        case saving
        case saved(Folder.Identity?)
    }

    private static let lock = Lock()
    // Safe: guarded by `lock`.
    nonisolated(unsafe) private static var states: [(path: String, state: State)] = []

    /// Notes that refreshed tokens are saved from now on, under the lock of the login.
    static func willSave(_ path: String) { set(.saving, path) }

    /// Notes the file that now exists at `path`: the one with the refreshed tokens, or the old one if saving failed.
    static func didSave(_ path: String, _ file: Folder.Identity?) { set(.saved(file), path) }

    /// Returns whether `file` is what this process has saved at `path`, or is about to be. Another file removes the
    /// note, because a later file may have the same identity.
    static func has(_ path: String, _ file: Folder.Identity?) -> Bool {
        lock.withLock {
            switch states.first(where: { $0.path.hasSameBytes(as: path) })?.state {
            case .saving: return true
            case .saved(let own) where own == file: return true
            case .saved, nil:
                states.removeAll { $0.path.hasSameBytes(as: path) }
                return false
            }
        }
    }

    private static func set(_ state: State, _ path: String) {
        lock.withLock {
            states.removeAll { $0.path.hasSameBytes(as: path) }
            states.append((path, state))
        }
    }
}
