import Crypto
import Platform

/// A key in a file that only its owner may read.
package enum SecretKeyFile {
    /// The length of a key in bytes.
    private static let count = 32

    /// Returns the key in the file. Makes a new one when the file is missing or has another length; files sealed with
    /// an old key are then no longer readable.
    package static func key(at path: String) throws(SystemError) -> SecretBytes {
        if FileKind(at: path) != nil {
            let bytes = try File.contents(of: path, limit: 4096)
            if bytes.count == count { return SecretBytes(copying: bytes) }
            Log.warning("\(path): not a valid key; a new one is made, and the cache starts empty")
        }
        let key = SecretBytes(randomCount: count)
        var file = try FileReplacement(of: path, mode: 0o600)
        try key.withUnsafeBytes { (bytes) throws(SystemError) in try file.append(bytes) }
        try file.commit()
        return key
    }
}
