import Platform

/// A token in a file, which the user or another program may replace. The file is read again when the service refuses
/// the token.
///
/// `@unchecked Sendable` is safe because `lock` guards the token.
package final class FileCredentials: CredentialsProvider, @unchecked Sendable {
    private static let longest = 16 << 10

    private let path: String
    private let lock = Lock()
    private var token: String?

    package init(_ path: String) { self.path = path }

    package func token(insteadOf rejected: String?, for use: TokenUse) -> String? {
        lock.withLock {
            if let token, rejected.map({ !$0.utf8.elementsEqual(token.utf8) }) ?? true { return token }
            token = read()
            guard let token, let rejected, token.utf8.elementsEqual(rejected.utf8) else { return token }
            return nil
        }
    }

    /// - Returns: nil for a file without a token, or one that cannot be read. Both are logged.
    private func read() -> String? {
        do throws(SystemError) {
            let bytes = try File.contents(of: path, limit: Self.longest)
            let token = bytes.prefix { $0 > 0x20 && $0 < 0x7F }
            if token.isEmpty { Log.warning("\(path): no token in this file") }
            return token.isEmpty ? nil : String(decoding: token, as: UTF8.self)
        } catch {
            Log.warning("the token of the service cannot be read: \(error)")
            return nil
        }
    }
}
