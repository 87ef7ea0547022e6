import CLinux
import Database
import Platform

/// Stores the trial of the entry that a start opens, in a file of the state folder, while the process runs. A process
/// that died has left the file that a start finds.
///
/// Thread: the daemon's.
final class ResumeGuard {
    private let file: ResumeFile
    private let storage: StorageThread
    private let loop: EventLoop
    private let mayHang: () -> Bool
    /// The entry on trial.
    private var entry: EntryID?
    private var timer: TimerToken?

    /// - Parameters:
    ///   - runtimeFolder: takes the file while the state folder cannot be written; nil: there is none.
    ///   - boot: identifies this boot of the system; empty when it is not known. A power cut does not count against
    ///     the entry.
    ///   - mayHang: whether the decoder works and nothing is heard. The watchdog ends a process whose decoder hangs,
    ///     and takes longer for it than a trial lasts.
    init(
        folder: String, runtimeFolder: String? = ResumeGuard.systemRuntimeFolder(), storage: StorageThread,
        loop: EventLoop, boot: [UInt8] = ResumeGuard.systemBoot(), mayHang: @escaping () -> Bool = { false }
    ) {
        file = ResumeFile(
            path: "\(folder)/resuming", runtimePath: runtimeFolder.map { "\($0)/resuming" }, boot: boot)
        self.storage = storage
        self.loop = loop
        self.mayHang = mayHang
    }

    /// The folder of a service that is the player's alone and lasts until the system stops: systemd's, or that of the
    /// firmware image.
    static func systemRuntimeFolder() -> String? {
        for name in ["RUNTIME_DIRECTORY", "SQLITE_TMPDIR"] {
            if let value = getenv(name) { return String(cString: value) }
        }
        return nil
    }

    static func systemBoot() -> [UInt8] {
        do throws(SystemError) {
            return Array(try File.contents(of: "/proc/sys/kernel/random/boot_id", limit: 64).prefix { $0 > 0x20 })
        } catch {
            return []
        }
    }

    /// Whether this start may open the entry. Writes the file before the entry is opened.
    func mayOpen(_ entry: EntryID) -> Bool {
        switch ResumeTrial.decide(entry, after: file.kept()) {
        case .passOver:
            // Nothing is known against the next entry.
            file.remove()
            return false
        case .open(let trial):
            file.write(trial)
            self.entry = entry
            surviveLater()
            return true
        }
    }

    private func surviveLater() {
        timer = loop.schedule(after: ResumeTrial.duration) { [self] in
            timer = nil
            if mayHang() { surviveLater() } else { survive() }
        }
    }

    /// This start opens nothing.
    func openNothing() { file.write(.survived) }

    /// Another entry is current now, or none: the opened entry caused no crash.
    func currentIs(_ current: EntryID?) {
        if let entry, entry != current { survive() }
    }

    /// The process is stopped and does not die.
    func end() {
        stopTimer()
        entry = nil
        storage.perform { [file] in file.remove() }
    }

    private func survive() {
        stopTimer()
        entry = nil
        // The daemon's thread does not wait for the medium while music plays.
        storage.perform { [file] in file.write(.survived) }
    }

    private func stopTimer() {
        if let timer { loop.cancel(timer) }
        timer = nil
    }
}

/// The file with the trial.
private struct ResumeFile: Sendable {
    let path: String
    /// Where the file is while `path` cannot be written. What is there counts alone: `path` may have an older one.
    let runtimePath: String?
    let boot: [UInt8]

    /// Not durable: it is needed only until the system stops, and until then the kernel keeps it.
    func write(_ trial: ResumeTrial) { replace(trial.text) }

    /// nil without a file, and when another boot has written it.
    func kept() -> ResumeTrial? {
        for path in [runtimePath, path] {
            guard let path, FileKind(at: path) == .file else { continue }
            do throws(SystemError) {
                let lines = try File.contents(of: path, limit: 128).split(
                    separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
                guard lines.count == 2, lines[1].elementsEqual(boot) else { return nil }
                return ResumeTrial(Array(lines[0]))
            } catch {
                Log.warning("\(error)")
                return nil
            }
        }
        return nil
    }

    func remove() {
        do throws(SystemError) {
            try Self.remove(path)
            removeFromRuntime()
        } catch {
            // It hides the file that stays.
            replace("\n")
        }
    }

    private func replace(_ text: String) {
        do throws(SystemError) {
            try create(path, text)
            removeFromRuntime()
        } catch let problem {
            guard let runtimePath else { return tell(problem) }
            do throws(SystemError) { try create(runtimePath, text) } catch { tell(error) }
        }
    }

    /// Nothing is counted, and the entry is opened.
    private func tell(_ problem: SystemError) {
        Log.warning("an entry that ends the process cannot be noticed: \(problem)")
    }

    private func create(_ path: String, _ text: String) throws(SystemError) {
        try Self.remove(path)
        let bytes = Array(text.utf8) + boot
        let file = try File(creating: path, mode: 0o600)
        var failure: SystemError?
        bytes.withUnsafeBytes { bytes in
            do throws(SystemError) { try file.write(bytes, at: 0) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    private func removeFromRuntime() {
        guard let runtimePath else { return }
        do throws(SystemError) { try Self.remove(runtimePath) } catch { Log.warning("\(error)") }
    }

    private static func remove(_ path: String) throws(SystemError) {
        if FileKind(at: path) == .file { try Folder.removeFile(path) }
    }
}
