import Crypto
import Database
import Platform

/// The storage folder, and whether it belongs to this database (docs/decisions/storage-folder.md).
///
/// Both hold the same random id, the folder in the file `tonearm-id`. The names of the files are random too: if the id
/// is damaged, the files identify the folder.
///
/// Until the folder is identified, no file in it is removed, no product counts as lost, and no download runs. Its
/// medium may not be mounted, or may belong to another appliance. The database may also be a new one, because the old
/// one could not be read.
struct StorageFolder: Sendable {
    static let idFileName = "tonearm-id"

    let path: String

    /// Whether the folder belongs to this database.
    enum Claim: Equatable {
        /// The folder belongs to this database.
        case ours
        /// The folder would belong to this database if its medium had room for an id; the text is for the user.
        case full(String)
        /// The folder does not belong to this database; the text is for the user.
        case refused(String)
    }

    private var idPath: String { "\(path)/\(Self.idFileName)" }

    func path(of content: [UInt8]) -> String {
        "\(path)/\(hexadecimal(Array(content.prefix(1))))/\(hexadecimal(content))"
    }

    /// Checks whether the folder belongs to this database now: a medium can be pulled.
    func isOurs(_ rows: OfflineRows) throws(DatabaseError) -> Bool {
        guard let id = try rows.folderID() else { return false }
        do throws(SystemError) { return try mark()?.hasSameBytes(as: id) ?? false } catch { return false }
    }

    /// Checks whether the folder belongs to this database, and claims it when nothing can be lost. Runs inside a
    /// transaction, which may be repeated.
    func claim(_ rows: OfflineRows) throws(DatabaseError) -> Claim {
        let id = try rows.folderID()
        let mark: String?
        let hasFiles: Bool
        do throws(SystemError) {
            mark = try self.mark()
            if let id, mark?.hasSameBytes(as: id) ?? false { return .ours }
            hasFiles = try self.hasFiles()
        } catch {
            return .refused("the offline copies cannot be checked, and downloads wait: \(error)")
        }
        let isMarked = mark.map { !$0.utf8.isEmpty } ?? false
        let haveContents = try rows.haveContents()
        if !hasFiles, !haveContents {
            // Use a new id: the former folder may be mounted here later, and is a different one.
            return try take(newID(), rows)
        }
        // Names are random, so one file of the rows identifies the folder. An earlier version gave it no id, its id was
        // removed, or the power failed between the two writes of `take`.
        if hasFiles, try rows.haveContent(where: { FileKind(at: path(of: $0)) == .file }) {
            if !isMarked { return try take(id ?? newID(), rows) }
            if id == nil, let mark {
                try rows.setFolderID(mark)
                return .ours
            }
            // The mark is damaged.
            if let id, try hasOurFiles(rows) { return try take(id, rows) }
        }
        // An empty id file: the user declares that this is the folder from now on.
        if !hasFiles, mark != nil, !isMarked { return try take(id ?? newID(), rows) }
        return .refused(isMarked || hasFiles ? foreign : missing)
    }

    /// Checks whether an offline copy of the rows is there with its size, and at least half of all files belong to the
    /// rows. Reads all rows and names.
    private func hasOurFiles(_ rows: OfflineRows) throws(DatabaseError) -> Bool {
        let hasCopy = try rows.haveItem { content, count in
            do throws(SystemError) {
                return try File(reading: path(of: content)).length() == SealedLayout.sealedCount(of: count)
            } catch {
                return false
            }
        }
        guard hasCopy else { return false }
        var known = 0
        _ = try rows.haveContent { content in
            if FileKind(at: path(of: content)) == .file { known += 1 }
            return false
        }
        known += try rows.coverContents().count { FileKind(at: path(of: $0)) == .file }
        do throws(SystemError) {
            var count = 0
            for entry in try Folder.entries(of: path) where entry.kind == .folder && entry.name.utf8.count == 2 {
                count += try Folder.entries(of: "\(path)/\(entry.name)").count
            }
            return count <= 2 * known
        } catch {
            return false
        }
    }

    private func newID() -> String { hexadecimal(SystemRandomSource().bytes(16)) }

    /// Writes the id to the folder, then to the rows.
    ///
    /// Power loss between the two: the folder has an id that the rows do not have, and the next start decides as this
    /// one did.
    private func take(_ id: String, _ rows: OfflineRows) throws(DatabaseError) -> Claim {
        do throws(SystemError) {
            try FileReplacement.removeLeftovers(in: path)
            try FileReplacement.write(Array("\(id)\n".utf8), to: idPath, mode: 0o600)
        } catch {
            let problem = "no offline copies can be stored in \(path), and downloads wait: \(error)"
            return error.isOutOfSpace ? .full(problem) : .refused(problem)
        }
        try rows.setFolderID(id)
        return .ours
    }

    /// - Returns: the id in the folder; nil without the file.
    private func mark() throws(SystemError) -> String? {
        do throws(SystemError) {
            let bytes = try File.contents(of: idPath, limit: 4096)
            return String(decoding: bytes.prefix { $0 > UInt8(ascii: " ") }, as: UTF8.self)
        } catch {
            if error.isMissingFile { return nil }
            throw error
        }
    }

    /// Whether a folder of `path(of:)` has any file.
    private func hasFiles() throws(SystemError) -> Bool {
        do throws(SystemError) {
            for entry in try Folder.entries(of: path) where entry.kind == .folder && entry.name.utf8.count == 2 {
                if !Folder.isEmpty("\(path)/\(entry.name)") { return true }
            }
            return false
        } catch {
            if error.isMissingFile { return false }
            throw error
        }
    }

    private var missing: String {
        "\(path) has none of the offline copies, and downloads wait: mount its medium. If that is lost, create the "
            + "empty file \(idPath), and everything is downloaded again"
    }

    private var foreign: String {
        "what is in \(path) is of another database: it stays as it is, and downloads wait. Put that tonearm.db back, "
            + "or set another folder ([offline] folder)"
    }
}

/// Checks the storage folder at the start, when it may have changed, and each minute until it belongs to the database.
///
/// Thread: control.
/// `@unchecked Sendable` is safe because only control uses its mutable state.
final class StorageFolderWatch: @unchecked Sendable {
    /// The time between two checks, in nanoseconds.
    private static let interval: Int64 = 60_000_000_000

    /// Whether the folder belongs to the database, as of the last check.
    private(set) var isOurs = false
    /// Why the folder does not belong to the database, for the user; also nil before the first check.
    private(set) var problem: String?
    /// Whether the problem is one of the state, and not of the folder.
    private(set) var isOfState = false
    private let store: OfflineStore
    private let space: OfflineSpace
    private let loop: EventLoop
    private let changed: @Sendable (_ isProblem: Bool) -> Void
    private var isLooking = false
    private var timer: TimerToken?
    private var isShutDown = false

    /// - Parameter changed: called when `isOurs` or `problem` has changed.
    init(
        _ store: OfflineStore, _ space: OfflineSpace, loop: EventLoop,
        changed: @escaping @Sendable (_ isProblem: Bool) -> Void
    ) {
        self.store = store
        self.space = space
        self.loop = loop
        self.changed = changed
    }

    func look() {
        loop.assertOnLoop()
        guard !isLooking, !isShutDown else { return }
        isLooking = true
        if let timer { loop.cancel(timer) }
        timer = nil
        store.write(answerOn: loop) { [store] (rows) throws(DatabaseError) in
            try store.folder.claim(rows)
        } _: { [self] result in
            switch result {
            case .success(.ours): found(nil)
            case .success(.refused(let problem)): found(problem)
            case .success(.full(let problem)):
                space.evictFromCache { [self] hadAny in
                    loop.post { [self] in
                        if !hadAny { return found(problem) }
                        isLooking = false
                        look()
                    }
                }
            case .failure(let error):
                found("the state cannot list the offline copies, and downloads wait: \(error)", isOfState: true)
            }
        }
    }

    private func found(_ problem: String?, isOfState: Bool = false) {
        isLooking = false
        guard !isShutDown else { return }
        let isProblem = !(problem ?? "").hasSameBytes(as: self.problem ?? "")
        let isNew = isProblem || isOurs != (problem == nil)
        isOurs = problem == nil
        self.isOfState = isOfState
        self.problem = problem
        if let problem {
            if isProblem { Log.error(problem) }
            timer = loop.schedule(after: Self.interval) { [self] in look() }
        }
        if isNew { changed(isProblem) }
    }

    /// Handles a report that the folder does not belong to the database any more: no download begins until the next
    /// check.
    func lost() {
        loop.assertOnLoop()
        guard isOurs, !isShutDown else { return }
        isOurs = false
        changed(false)
        look()
    }

    func shutDown() { isShutDown = true }
}
