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
    ///   - boot: identifies this boot of the system; empty when it is not known. A power cut does not count against
    ///     the entry.
    ///   - mayHang: whether the decoder works and nothing is heard. The watchdog ends a process whose decoder hangs,
    ///     and takes longer for it than a trial lasts.
    init(
        folder: String, storage: StorageThread, loop: EventLoop, boot: [UInt8] = ResumeGuard.systemBoot(),
        mayHang: @escaping () -> Bool = { false }
    ) {
        file = ResumeFile(path: "\(folder)/resuming", boot: boot)
        self.storage = storage
        self.loop = loop
        self.mayHang = mayHang
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
    let boot: [UInt8]

    /// Not durable: it is needed only until the system stops, and until then the kernel keeps it.
    func write(_ trial: ResumeTrial) {
        remove()
        let bytes = Array(trial.text.utf8) + boot
        do throws(SystemError) {
            let file = try File(creating: path, mode: 0o600)
            var failure: SystemError?
            bytes.withUnsafeBytes { bytes in
                do throws(SystemError) { try file.write(bytes, at: 0) } catch { failure = error }
            }
            if let failure { throw failure }
        } catch {
            // The folder cannot be written: nothing is counted, and the entry is opened.
            Log.warning("an entry that ends the process cannot be noticed: \(error)")
        }
    }

    /// nil without a file, and when another boot has written it.
    func kept() -> ResumeTrial? {
        guard FileKind(at: path) == .file else { return nil }
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

    func remove() {
        guard FileKind(at: path) == .file else { return }
        do throws(SystemError) { try Folder.removeFile(path) } catch { Log.warning("\(error)") }
    }
}
