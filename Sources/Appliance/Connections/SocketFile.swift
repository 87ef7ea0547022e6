import CLinux
import Platform

/// The file of the socket: its permissions, and its replacement after a crash has left one.
package struct SocketFile {
    let path: String
    /// The lowest nine bits of its mode.
    let mode: UInt32
    /// The group of the socket, when the mode lets a group use it; nil for the process's own.
    let group: String?

    /// The path at which the socket gets its owner and mode, before clients can find it.
    private var temporaryPath: String { path + ".new" }
    /// sun_path has 108 bytes, with the NUL.
    static let lengthLimit = 107 - 4

    package init(path: String, mode: UInt32, group: String?) {
        (self.path, self.mode, self.group) = (path, mode, group)
    }

    /// Opens the socket and listens. At no moment can a user without permission connect.
    package func open() throws(SocketFileError) -> StreamSocket {
        try checkIsFree()
        do throws(SystemError) {
            try Folder.create(Folder.containing(path))
            if Self.isSocket(temporaryPath) == true { try Folder.removeFile(temporaryPath) }
            let socket = try StreamSocket(listeningAt: temporaryPath, mode: 0o600)
            // A crash here leaves an unused socket under the temporary name. The next start removes it.
            giveToGroup()
            if chmod(temporaryPath, mode_t(mode)) != 0 || rename(temporaryPath, path) != 0 {
                let error = SystemError.last("rename", path)
                unlink(temporaryPath)
                throw error
            }
            return socket
        } catch {
            throw .system(path: path, error)
        }
    }

    package func remove() { unlink(path) }

    private func checkIsFree() throws(SocketFileError) {
        guard let isSocket = Self.isSocket(path) else { return }
        guard isSocket else { throw .notASocket(path: path) }
        do throws(SystemError) { _ = try StreamSocket(connectingTo: path, seconds: 1) } catch {
            // No program listens: a crash has left the socket.
            if error.code == ECONNREFUSED || error.code == ENOENT { return }
            // A program listens, and has not accepted connections for a while.
            if error.code == EAGAIN { throw .inUse(path: path) }
            throw .system(path: path, error)
        }
        throw .inUse(path: path)
    }

    private func giveToGroup() {
        guard let group, mode & 0o070 != 0 else { return }
        guard let id = UserGroup.id(named: group) else {
            Log.warning(
                "there is no group \(group): only this user can use \(path). Add it with `groupadd --system \(group)`, "
                    + "or set another: [control] group")
            return
        }
        if chown(temporaryPath, uid_t.max, id) != 0 {
            Log.warning("\(path) cannot be given to group \(group): \(SystemError.last("chown").reason)")
        }
    }

    /// Returns nil when there is no file.
    private static func isSocket(_ path: String) -> Bool? {
        var mode: UInt32 = 0
        guard tonearm_mode_of_link(path, &mode) == 0 else { return nil }
        return Int32(mode) & S_IFMT == S_IFSOCK
    }
}
