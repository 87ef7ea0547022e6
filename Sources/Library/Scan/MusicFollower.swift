import Database
import Manifests
import Media
import Platform

/// Keeps the index of music folders up to date: compares everything at the start, and then each change.
///
/// Changes are reported by inotify(7) and by the mount table. If changes may be missed, everything is compared each
/// hour.
///
/// Thread: one; `requests` and `control`: any.
package final class MusicFollower {
    /// The time between full scans when the kernel may miss changes, in nanoseconds.
    private static let scanInterval: Int64 = 3_600_000_000_000
    /// The year 2020, in seconds since 1970. A clock with an earlier time was never set.
    private static let earliestTime: Int64 = 1_577_836_800

    private let index: MusicIndex
    private let folders: [String]
    private let rules: ScanRules
    private let requests: ScanRequests
    private let control: ScanControl
    private let seconds: () -> Int64
    private let musicPath: PlaylistEntry.MusicPath
    private let changed: () -> Void
    private let failures = ScanFailures()
    /// The links that are not followed, because they lead out of the folders.
    private var linksOut: Set<PathBytes> = []

    /// - Parameters:
    ///   - folders: absolute paths without dots. A missing folder counts as empty.
    ///   - seconds: returns the system's time in seconds since 1970.
    ///   - musicPath: as for `PlaylistEntry.MusicPath`.
    ///   - changed: called after each transaction, which may have `ContentChange`s, and when following begins.
    package init(
        _ index: MusicIndex, folders: [String], rules: ScanRules, requests: ScanRequests,
        control: ScanControl = ScanControl(), seconds: @escaping () -> Int64,
        musicPath: @escaping PlaylistEntry.MusicPath = { _ in nil }, changed: @escaping () -> Void = {}
    ) {
        self.index = index
        self.folders = folders
        self.rules = rules
        self.requests = requests
        self.control = control
        self.seconds = seconds
        self.musicPath = musicPath
        self.changed = changed
    }

    /// Compares all folders with the index.
    package func scan() throws(DatabaseError) -> MusicScan.Summary {
        try scan(FolderWatch.Changes(isAll: true), nil)
    }

    /// Scans the folders, and then each change in them, until it is cancelled.
    /// - Parameters:
    ///   - retryInterval: the delay after a failed scan, in milliseconds.
    ///   - report: called with the first result, each later result with changes, the first result after a failure, and
    ///     each requested result.
    ///   - failed: called when a scan has failed, because the index cannot be written. Everything is scanned again
    ///     later. Meanwhile lists show the tracks of the old index.
    package func follow(
        _ cancellation: Cancellation, retryInterval: Int = 60_000, _ report: (MusicScan.Summary) -> Void,
        failed: (DatabaseError) -> Void
    ) throws(SystemError) {
        let watch = try FolderWatch(rules, requests: requests, mountsAround: folders.map(Self.resolved))
        let clock = SystemMonotonicClock()
        var nextOfAll: Int64 = 0
        var changes = FolderWatch.Changes(isAll: true)
        var isReported = false
        var problem: String?
        changed()
        while true {
            watch.watchAbove(folders)
            let isComplete = watch.isComplete && folders.allSatisfy { FileKind(at: $0) == .folder }
            // If changes never cease, no wait times out although the time has passed.
            if changes.isEmpty || !isComplete && clock.now() >= nextOfAll { changes.isAll = true }
            if changes.isAll { nextOfAll = clock.now() + Self.scanInterval }
            do throws(DatabaseError) {
                let known = linksOut
                let result = try scan(changes, watch)
                if !isReported || result.hasChanges || known != linksOut { report(result) }
                isReported = true
                problem = nil
            } catch {
                // The same failure is reported only once.
                if problem.map({ !$0.utf8.elementsEqual(error.description.utf8) }) ?? true { failed(error) }
                problem = error.description
                isReported = false
                // The changes are lost: scan everything.
                changes = FolderWatch.Changes(isAll: true)
                if watch.pause(milliseconds: retryInterval, cancellation) { continue }
                return
            }
            let patience = isComplete ? -1 : Int(clamping: max(nextOfAll - clock.now(), 0) / 1_000_000)
            guard let next = watch.wait(milliseconds: patience, cancellation) else { return }
            changes = next
        }
    }

    private func scan(
        _ changes: FolderWatch.Changes, _ watch: FolderWatch?
    ) throws(DatabaseError) -> MusicScan.Summary {
        control.begin()
        defer { control.end() }
        // Files of a new index do not count as added today.
        let now = seconds()
        let isNew = try index.number("SELECT count(*) FROM (SELECT 1 FROM track LIMIT 1)") == 0
        var summary = MusicScan.Summary()
        let roots = rules.followsAllLinks ? nil : MusicRoots(folders)
        func run(_ scope: MusicScan.Scope, in root: String?) throws(DatabaseError) {
            summary += try MusicScan(
                index: index, scope: scope, rules: rules, control: control, watch: watch, root: root,
                roots: roots, failures: failures, now: isNew || now < Self.earliestTime ? nil : now,
                musicPath: musicPath, changed: changed
            ).run()
        }
        if changes.isAll {
            for folder in folders { try run(.tree(folder), in: folder) }
        } else {
            for tree in changes.trees { try run(.tree(tree.path), in: root(of: tree.path)) }
            for file in changes.files { try run(.file(file.path), in: root(of: file.path)) }
        }
        try MusicScan.finish(index)
        noteLinks(&summary, changes)
        return summary
    }

    /// Adds the known links out of the music folders in paths that this scan did not read.
    private func noteLinks(_ summary: inout MusicScan.Summary, _ changes: FolderWatch.Changes) {
        let looked = Set(changes.trees).union(changes.files)
        linksOut = changes.isAll ? [] : linksOut.filter { !$0.isIn(looked) }
        linksOut.formUnion(summary.linksOut.map { PathBytes($0) })
        summary.linksOut = linksOut.map { $0.path }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Returns the music folder of a path.
    private func root(of path: String) -> String? {
        folders.first { folder in
            let bytes = path.utf8
            guard bytes.starts(with: folder.utf8) else { return false }
            return bytes.count == folder.utf8.count || bytes.dropFirst(folder.utf8.count).first == UInt8(ascii: "/")
                || folder.utf8.elementsEqual("/".utf8)
        }
    }

    /// Returns the folder with links resolved. For a missing folder returns the root, so that any mount counts, because
    /// a mount may create the folder. For example, /media of the images is a link to a folder that the first stick
    /// creates.
    private static func resolved(_ folder: String) -> String {
        do throws(SystemError) { return try Folder.resolved(folder) } catch { return "/" }
    }
}
