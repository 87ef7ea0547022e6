import Platform

/// The pictures that products of the service had last, so that their thumbnails are found without the network: a folder
/// with a small file for each product. A lost one is made again.
///
/// Thread: any that may block on the medium. `@unchecked Sendable` is safe because `lock` guards the number of files.
package final class KnownCovers: @unchecked Sendable {
    /// The time after which the service is asked for a newer cover: a day, in seconds.
    private static let recent: Int64 = 86_400

    private let path: String
    /// The maximum number of products. Each takes a block of 4 KiB on the medium.
    private let most: Int
    private let lock = Lock()
    /// The number of files; nil until the first one is added.
    private var count: Int?

    package init(_ path: String, most: Int = 1000) { (self.path, self.most) = (path, most) }

    private func file(of product: PictureIdentity) -> String { "\(path)/\(product.text)" }

    /// - Returns: nil for a product without a known picture. `isRecent` is true while the service need not be asked
    ///   again.
    func picture(of product: PictureIdentity) -> (picture: PictureIdentity, isRecent: Bool)? {
        let file = file(of: product)
        guard let bytes = try? File.contents(of: file, limit: 64),
            let picture = PictureIdentity(text: String(decoding: bytes, as: UTF8.self))
        else { return nil }
        let age = Folder.modified(file).map { SystemTime.clockMilliseconds() / 1000 - $0 }
        return (picture, 0..<Self.recent ~= age ?? -1)
    }

    func set(_ picture: PictureIdentity, of product: PictureIdentity) {
        let file = file(of: product)
        do throws(SystemError) {
            try Folder.create(path, mode: 0o700)
            if FileKind(at: file) != .file { makeRoom() }
            var replacement = try FileReplacement(of: file, mode: 0o600)
            var failure: SystemError?
            Array(picture.text.utf8).withUnsafeBytes { bytes in
                do throws(SystemError) { try replacement.append(bytes) } catch { failure = error }
            }
            if let failure { throw failure }
            try replacement.commitWithoutSync()
        } catch {
            Log.info("a cover is not remembered: \(error)")
        }
    }

    func remove(_ product: PictureIdentity) {
        guard FileKind(at: file(of: product)) == .file else { return }
        try? Folder.removeFile(file(of: product))
        lock.withLock { count = nil }
    }

    /// Removes the older half of the files when there is no room for another one.
    private func makeRoom() {
        lock.withLock {
            if let count, count < most {
                self.count = count + 1
                return
            }
            let names = ((try? Folder.entries(of: path)) ?? []).map { $0.name }
            guard names.count >= most else {
                count = names.count + 1
                return
            }
            var files = names.map { (name: $0, changed: Folder.modified("\(path)/\($0)") ?? 0) }
            files.sort { $0.changed < $1.changed }
            for file in files.prefix((most + 1) / 2) { try? Folder.removeFile("\(path)/\(file.name)") }
            count = nil
        }
    }
}
