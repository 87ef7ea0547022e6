import Platform

/// The key of this device. It seals the secrets on the device's medium: tokens, and the keys of offline copies. The
/// medium holds the key too, so sealing protects only copies and backups of single files, and detects changes.
///
/// Any thread, one at a time.
public struct DeviceKey: ~Copyable {
    /// The name of the key's file in the state folder.
    public static let fileName = "device.key"
    private static let byteCount = 32
    /// The version of the format that `seal` writes.
    private static let version: UInt8 = 1

    private let secret: SecretBytes

    /// - Parameter secret: 32 bytes, for a key that is not stored, and for tests.
    public init(secret: consuming SecretBytes) {
        precondition(secret.count == Self.byteCount, "DeviceKey: 32 bytes")
        self.secret = secret
    }

    // Without a deinit, Embedded Swift destroys the value in the module that uses it, where its members are not
    // visible.
    deinit {}

    /// Returns the key in `folder`. Creates one, readable for its owner alone, when there is none; two processes that
    /// do so at the same time get the same key. A file that others may read, for example after a restore from a backup,
    /// is restricted to its owner. Blocks on the medium.
    /// - Throws: `.damaged` for a file that is not a key. The file is never replaced, because everything that its key
    ///   seals would be lost.
    public static func load(folder: String) throws(DeviceKeyError) -> DeviceKey {
        let path = "\(folder)/\(fileName)"
        if let key = try existing(path) { return key }
        let bytes = SystemRandomSource().bytes(byteCount)
        do throws(SystemError) {
            if try FileReplacement.create(bytes, at: path, mode: 0o600) {
                return DeviceKey(secret: SecretBytes(copying: bytes))
            }
        } catch {
            throw .system(error)
        }
        // Another process was faster.
        guard let key = try existing(path) else { throw .damaged(path: path) }
        return key
    }

    private static func existing(_ path: String) throws(DeviceKeyError) -> DeviceKey? {
        guard FileKind(at: path) != nil else { return nil }
        let bytes: [UInt8]
        do throws(SystemError) { bytes = try File.contents(of: path, limit: 4096) } catch { throw .system(error) }
        guard bytes.count == byteCount else { throw .damaged(path: path) }
        protect(path)
        return DeviceKey(secret: SecretBytes(copying: bytes))
    }

    /// Restricts the key's file to its owner. A failure is only logged, because the key is valid all the same.
    private static func protect(_ path: String) {
        do throws(SystemError) {
            let file = try File(reading: path)
            guard try file.permissions() & 0o077 != 0 else { return }
            try file.setPermissions(0o600)
            Log.warning("\(path): others than its owner had a right to it. They have none any more")
        } catch {
            Log.warning("\(path): others than its owner may have a right to it, which cannot be taken away: \(error)")
        }
    }

    /// Encrypts `plain` for this device: AES-256-GCM with a key for each context.
    /// - Parameter context: the purpose, such as `tonearm.login`; `open` needs the same one.
    /// - Returns: 29 bytes more than `plain`, with a new random nonce each time.
    public borrowing func seal(_ plain: [UInt8], context: [UInt8]) -> [UInt8] {
        let nonce = SystemRandomSource().bytes(AESGCM.nonceCount)
        // Random nonces of 96 bits are safe for 2^32 messages of a context (NIST SP 800-38D, 8.3).
        guard var cipher = try? AESGCM(key: try key(for: context)),
            let sealed = try? cipher.seal(plain, nonce: nonce, authenticating: context)
        else { preconditionFailure("AES-GCM without memory") }
        return [Self.version] + nonce + sealed
    }

    /// Returns the bytes that `seal` encrypted.
    /// - Throws: `notAuthentic` when they were changed, or belong to another device or context; `failed` without
    ///   memory.
    public borrowing func open(_ sealed: [UInt8], context: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard sealed.first == Self.version, sealed.count >= 1 + AESGCM.nonceCount + AESGCM.tagCount else {
            throw .notAuthentic
        }
        var cipher = try AESGCM(key: try key(for: context))
        return try cipher.open(
            Array(sealed[(1 + AESGCM.nonceCount)...]), nonce: Array(sealed[1...AESGCM.nonceCount]),
            authenticating: context)
    }

    private borrowing func key(for context: [UInt8]) throws(CryptoError) -> SecretBytes {
        try HKDFSHA256.deriveKey(
            from: secret, salt: [], info: Array("tonearm device key 1 ".utf8) + context, count: Self.byteCount)
    }
}

/// Why the device's key could not be read or created.
public enum DeviceKeyError: Error, Equatable, Sendable, CustomStringConvertible {
    case system(SystemError)
    /// The file is not a key.
    case damaged(path: String)

    public var description: String {
        switch self {
        case .system(let error): "the device's key: \(error.description)"
        case .damaged(let path):
            "\(path): this is not the key of a device. Restore it from a backup, or remove it; then log in again."
        }
    }
}
