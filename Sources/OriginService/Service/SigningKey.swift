import Glibc
import Platform

/// The signing key, in a file that only its owner can read. It is stored, so that addresses outlive a restart.
enum SigningKey {
    private static let byteCount = 32

    /// Reads the key, and makes a new one when there is none of the right size.
    static func load(from path: String) throws(SystemError) -> [UInt8] {
        do throws(SystemError) {
            let kept = try File.contents(of: path, limit: 4096)
            if kept.count == byteCount { return kept }
            try Folder.removeFile(path)
        } catch {
            guard error.code == ENOENT else { throw error }
        }
        let key = SystemRandomSource().bytes(byteCount)
        let temporary = path + ".new"
        try Folder.removeFile(temporary)
        do throws(SystemError) {
            let file = try File(creating: temporary, mode: 0o600)
            try key.withUnsafeBufferPointer { (bytes) throws(SystemError) in
                try file.write(UnsafeRawBufferPointer(bytes), at: 0)
            }
            try file.synchronize()
        } catch {
            throw error
        }
        // Power loss here: the next start makes another key, and nothing was signed with this one.
        try Folder.renameFile(temporary, to: path)
        return key
    }
}
