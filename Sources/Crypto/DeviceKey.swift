import Platform

/// The key of this device, under which secrets lie on its medium: tokens, and the keys of what is kept offline. The
/// medium holds the key too: what is sealed is protected in copies and backups of single files, and from changes.
///
/// Any thread, one at a time.
public struct DeviceKey: ~Copyable {
    /// Of the file, in the state folder.
    public static let fileName = "device.key"
    private static let byteCount = 32
    /// Of the form that `seal` writes.
    private static let version: UInt8 = 1

    private let secret: SecretBytes

    /// - Parameter secret: 32 bytes: for what is not kept, and for tests.
    public init(secret: consuming SecretBytes) {
        precondition(secret.count == Self.byteCount, "DeviceKey: 32 bytes")
        self.secret = secret
    }

    // Without a deinit, Embedded Swift destroys a value in the module that uses it, which does not see the parts.
    deinit {}

    /// The key in `folder`; it is created, readable for its owner alone, when there is none. When two processes do so
    /// at once, both get the same. One that others may read, as a backup may have left it, is made the owner's alone.
    /// Blocks on the medium.
    /// - Throws: `.damaged` for a file that is no key. It is never replaced: what it seals would be lost.
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

    /// The key is good all the same: what cannot be changed is told, and does not keep anybody from using it.
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
    /// - Parameter context: what it is, as `tonearm.login`; the same is needed to open it.
    /// - Returns: 29 bytes more than `plain`; different ones each time.
    public borrowing func seal(_ plain: [UInt8], context: [UInt8]) -> [UInt8] {
        let nonce = SystemRandomSource().bytes(AESGCM.nonceCount)
        // Random nonces of 96 bits are safe for 2^32 messages of a context (NIST SP 800-38D, 8.3).
        guard var cipher = try? AESGCM(key: try key(for: context)),
            let sealed = try? cipher.seal(plain, nonce: nonce, authenticating: context)
        else { preconditionFailure("AES-GCM without memory") }
        return [Self.version] + nonce + sealed
    }

    /// What `seal` encrypted.
    /// - Throws: `notAuthentic` when it was changed, is of another device, or of another context; `failed` without
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

/// Why the device's key could not be read or made.
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
