import Crypto
import Platform

/// A key in a file that only its owner may read.
enum SecretKeyFile {
    /// In bytes.
    private static let count = 32

    /// The key in the file; a new one when it is missing or has another length. What was sealed with an old key is not
    /// readable any more.
    static func key(at path: String) throws(SystemError) -> SecretBytes {
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
