import Crypto
import Database
import Platform

/// The folder with the files of what is kept, and whether it is the one that the rows of the database are of: both have
/// the same random id, the folder in the file `tonearm-id`. The names of the files are random too: where the id is
/// damaged, the files prove whose folder it is. Without that certainty nothing in it is removed, nothing counts as
/// lost, and nothing is downloaded. The medium may not be mounted, or be that of another appliance; or the database
/// may be a new one, because the old one could not be read.
struct KeptFolder: Sendable {
    static let idFileName = "tonearm-id"

    let path: String

    /// Whose folder it is.
    enum Claim: Equatable {
        /// That of the rows.
        case ours
        /// It could be made that of the rows if its medium had room for an id; for a person.
        case full(String)
        /// For a person.
        case refused(String)
    }

    private var idPath: String { "\(path)/\(Self.idFileName)" }

    func path(of content: [UInt8]) -> String {
        "\(path)/\(hexadecimal(Array(content.prefix(1))))/\(hexadecimal(content))"
    }

    /// Whether it is that of the rows, as of now: a medium can be pulled.
    func isOurs(_ rows: OfflineRows) throws(DatabaseError) -> Bool {
        guard let id = try rows.folderID() else { return false }
        do throws(SystemError) { return try mark()?.hasSameBytes(as: id) ?? false } catch { return false }
    }

    /// Finds out whether it is that of the rows, and makes it that where nothing can be lost. Inside a transaction,
    /// which may run again.
    func claim(_ rows: OfflineRows) throws(DatabaseError) -> Claim {
        let id = try rows.folderID()
        let mark: String?
        let hasFiles: Bool
        do throws(SystemError) {
            mark = try self.mark()
            if let id, mark?.hasSameBytes(as: id) ?? false { return .ours }
            hasFiles = try self.hasFiles()
        } catch {
            return .refused("what is kept cannot be looked at, and downloads wait: \(error)")
        }
        let isMarked = mark.map { !$0.utf8.isEmpty } ?? false
        let haveContents = try rows.haveContents()
        if !hasFiles, !haveContents {
            // Another id: the folder of the former one may be mounted here later, and is not the same.
            return try take(newID(), rows)
        }
        // Names are random: with one file of theirs it is that of these rows. An earlier version gave it no id, or its
        // id was removed, or the power went between the two writes of `take`.
        if hasFiles, try rows.haveContent(where: { FileKind(at: path(of: $0)) == .file }) {
            if !isMarked { return try take(id ?? newID(), rows) }
            if id == nil, let mark {
                try rows.setFolderID(mark)
                return .ours
            }
            // The mark is damaged.
            if let id, try hasOurFiles(rows) { return try take(id, rows) }
        }
        // An empty file for the id: a person says that this is the folder from now on.
        if !hasFiles, mark != nil, !isMarked { return try take(id ?? newID(), rows) }
        return .refused(isMarked || hasFiles ? foreign : missing)
    }

    /// Whether an offline copy of the rows is there with its size, and at least half of all files are those of the
    /// rows. Looks at all of them.
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

    /// The folder first. Power loss between the two: the folder has an id that the rows do not have, and the next start
    /// decides as this one did.
    private func take(_ id: String, _ rows: OfflineRows) throws(DatabaseError) -> Claim {
        do throws(SystemError) {
            try FileReplacement.removeLeftovers(in: path)
            try FileReplacement.write(Array("\(id)\n".utf8), to: idPath, mode: 0o600)
        } catch {
            let problem = "nothing can be kept in \(path), and downloads wait: \(error)"
            return error.isOutOfSpace ? .full(problem) : .refused(problem)
        }
        try rows.setFolderID(id)
        return .ours
    }

    /// - Returns: nil without the file.
    private func mark() throws(SystemError) -> String? {
        do throws(SystemError) {
            let bytes = try File.contents(of: idPath, limit: 4096)
            return String(decoding: bytes.prefix { $0 > UInt8(ascii: " ") }, as: UTF8.self)
        } catch {
            if error.isMissingFile { return nil }
            throw error
        }
    }

    /// Whether there is anything where `path(of:)` puts files.
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
        "\(path) has nothing of what is kept, and downloads wait: mount its medium. If that is lost, create the empty "
            + "file \(idPath), and everything is downloaded again"
    }

    private var foreign: String {
        "what is in \(path) is of another database: it stays as it is, and downloads wait. Put that tonearm.db back, "
            + "or set another folder ([offline] folder)"
    }
}

/// Looks at the folder at the start, when it may not be the right one any more, and each minute until it is.
///
/// Thread: control.
/// `@unchecked Sendable` is safe because control alone uses what changes.
final class KeptFolderWatch: @unchecked Sendable {
    /// In nanoseconds.
    private static let interval: Int64 = 60_000_000_000

    /// Whether the folder is that of the rows, as far as is known.
    private(set) var isOurs = false
    /// Why it is not, for a person; nil also before the first look.
    private(set) var problem: String?
    /// Whether that is a problem of the state, and not of the folder.
    private(set) var isOfState = false
    private let store: OfflineStore
    private let space: OfflineSpace
    private let loop: EventLoop
    private let changed: @Sendable (_ isProblem: Bool) -> Void
    private var isLooking = false
    private var timer: TimerToken?
    private var isShutDown = false

    /// - Parameter changed: called when `isOurs` has, or `problem` too.
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
                found("the state cannot say what is kept, and downloads wait: \(error)", isOfState: true)
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

    /// Somebody has found that it is not the right one any more: nothing begins until the next look.
    func lost() {
        loop.assertOnLoop()
        guard isOurs, !isShutDown else { return }
        isOurs = false
        changed(false)
        look()
    }

    func shutDown() { isShutDown = true }
}
