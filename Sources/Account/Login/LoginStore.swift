import Crypto
import Platform

/// The login of a service in the state folder, sealed under the device's key. There is at most one.
///
/// Any thread, and any process. Blocks on the medium.
package struct LoginStore: Sendable {
    /// The path of the state folder, which exists.
    let folder: String
    /// The service of the login. Its tokens are sent only to this service.
    let service: ServiceSettings

    private static let context = Array("tonearm.login".utf8)
    private static let longestFile = 32 << 10

    package init(folder: String, service: ServiceSettings) {
        self.folder = folder
        self.service = service
    }

    package var path: String { "\(folder)/login.sealed" }
    /// Taken while the daemon or a user's command changes the login.
    package var lockPath: String { "\(folder)/login.lock" }
    /// The identity of the login's file, which differs for each saved login; nil without one.
    var file: Folder.Identity? { Folder.Identity(of: path) }

    /// Whether the last change of the login was a refresh by this process.
    package var isOwnRefresh: Bool { OwnRefreshes.has(path, file) }

    /// Why a login cannot be read or written. The reason is for users.
    package struct Failure: Error {
        package let reason: String
    }

    /// - Returns: nil without a login to this service.
    package func load() throws(Failure) -> LoginTokens? {
        let sealed: [UInt8]
        do throws(SystemError) {
            guard FileKind(at: path) != nil else { return nil }
            sealed = try File.contents(of: path, limit: Self.longestFile)
        } catch {
            throw Failure(reason: error.description)
        }
        let key = try key()
        let plain: [UInt8]
        do throws(CryptoError) { plain = try key.open(sealed, context: Self.context) } catch {
            throw Failure(reason: "\(path): \(error.description). Log in again with `tonearm login`")
        }
        guard let json = try? JSONValue.parse(plain), let access = LoginTokens.token(json["access"]),
            let url = json["service"]?.string, let client = json["client"]?.string
        else { throw Failure(reason: "\(path): not understood. Log in again with `tonearm login`") }
        guard url.hasSameBytes(as: service.baseURL), client.hasSameBytes(as: service.clientName) else { return nil }
        return LoginTokens(
            access: access, refresh: LoginTokens.token(json["refresh"]), user: LoginTokens.user(json["user"]))
    }

    /// Replaces the login. When this returns, it survives a power cut.
    package func save(_ tokens: LoginTokens) throws(Failure) {
        var json: JSONValue = [
            "service": .string(service.baseURL), "client": .string(service.clientName),
            "access": .string(tokens.access),
        ]
        if let refresh = tokens.refresh { json["refresh"] = .string(refresh) }
        if let user = tokens.user { json["user"] = .string(user) }
        let sealed = try key().seal(Array(json.serialized().utf8), context: Self.context)
        // Power loss here: the old login is in place. Its refresh token is valid until the new one is used.
        do throws(SystemError) { try FileReplacement.write(sealed, to: path, mode: 0o600) } catch {
            throw Failure(reason: error.description)
        }
    }

    /// Checks that a login could be saved: that the folder and the key exist.
    package func check() throws(Failure) {
        let _ = try key()
        do throws(SystemError) {
            // Reserves a file as `save` does; nothing is left.
            _ = try FileReplacement(of: path, mode: 0o600)
        } catch {
            throw Failure(reason: error.description)
        }
    }

    package func remove() throws(Failure) {
        do throws(SystemError) {
            guard FileKind(at: path) != nil else { return }
            try Folder.removeFile(path)
            try Folder.synchronize(containing: path)
        } catch {
            throw Failure(reason: error.description)
        }
    }

    private func key() throws(Failure) -> DeviceKey {
        do throws(DeviceKeyError) { return try DeviceKey.load(folder: folder) } catch {
            throw Failure(reason: error.description)
        }
    }
}
