import CLinux
import Database
import Platform
import Queue

/// Stores the trial of the entry that a start opens, in a file of the state folder, while the process runs. A start
/// that finds the file knows that the last process crashed.
///
/// Thread: the daemon's.
final class ResumeGuard {
    private let file: ResumeFile
    private let storage: StorageThread
    private let loop: EventLoop
    private let mayHang: () -> Bool
    /// The entry that is on trial.
    private var entry: EntryID?
    private var timer: TimerToken?

    /// - Parameters:
    ///   - runtimeFolder: the folder for the file while the state folder cannot be written; nil when there is none.
    ///   - boot: identifies this boot of the system; empty when it is unknown. With it, a power cut does not count as a
    ///     crash.
    ///   - mayHang: returns whether the decoder works and no sound is heard. The watchdog ends a process whose decoder
    ///     hangs, but only after a time that is longer than a trial.
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

    /// The runtime folder of the service, which only the player uses and which lasts until the system stops. It is that
    /// of systemd, or of the firmware image.
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

    /// Returns whether this start may open the entry. Writes the file, so call it before the entry is opened.
    func mayOpen(_ entry: EntryID) -> Bool {
        switch ResumeTrial.decide(entry, after: file.lastTrial()) {
        case .passOver:
            // The next entry is not suspected of the crashes.
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

    /// Notes that this start opens no entry.
    func openNothing() { file.write(.survived) }

    /// Notes that another entry is current now, or none: the opened entry caused no crash.
    func currentIs(_ current: EntryID?) {
        if let entry, entry != current { survive() }
    }

    /// Removes the file, because the process is stopped and does not crash.
    func end() {
        stopTimer()
        entry = nil
        storage.perform { [file] in file.remove() }
    }

    private func survive() {
        stopTimer()
        entry = nil
        // Written on the storage thread, because the daemon's thread must not wait for the medium while music plays.
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
    /// The path of the file while `path` cannot be written. If this file exists, only it counts: `path` may have an
    /// older one.
    let runtimePath: String?
    let boot: [UInt8]

    /// Writes the file. The write is not durable, because the file is needed only until the system stops. Until then
    /// the kernel has its contents.
    func write(_ trial: ResumeTrial) { replace(trial.text) }

    /// Returns nil without a file, and when it was written in another boot.
    func lastTrial() -> ResumeTrial? {
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
            // If the file cannot be removed, overwrites it without a trial.
            replace("\n")
        }
    }

    private func replace(_ text: String) {
        do throws(SystemError) {
            try create(path, text)
            removeFromRuntime()
        } catch let problem {
            guard let runtimePath else { return notify(problem) }
            do throws(SystemError) { try create(runtimePath, text) } catch { notify(error) }
        }
    }

    /// Logs that crashes are not counted, and that the entry is opened.
    private func notify(_ problem: SystemError) {
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
