import Platform

/// Decides whether a start may open the current entry, in case this entry makes the process crash
/// (docs/decisions/entries-that-end-the-process.md).
struct ResumeTrial: Equatable {
    /// After so many failed starts in a row with one entry, it is skipped.
    static let limit = 2
    /// A start that runs for this long, in nanoseconds, has survived the entry: the resumed position was at most 10 s
    /// old.
    static let duration: Int64 = 30_000_000_000

    /// The entry that a start opened.
    var entry: EntryID
    /// How many starts in a row have opened it and did not survive, as far as is known.
    var starts: Int

    enum Decision: Equatable {
        /// Store this on the medium, then open the entry.
        case open(ResumeTrial)
        case passOver
    }

    /// - Parameter kept: the trial that earlier starts have stored; nil when the last one survived.
    static func decide(_ current: EntryID, after kept: ResumeTrial?) -> Decision {
        let starts = kept?.entry == current ? kept?.starts ?? 0 : 0
        return starts >= limit ? .passOver : .open(ResumeTrial(entry: current, starts: starts + 1))
    }

    /// `entry starts`, as the file stores it.
    var text: String { "\(entry.number) \(starts)\n" }

    init(entry: EntryID, starts: Int) {
        self.entry = entry
        self.starts = starts
    }

    /// nil when the bytes are not a trial.
    init?(_ bytes: [UInt8]) {
        let words = bytes.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
        guard words.count == 2, let entry = UInt32(String(decoding: words[0], as: UTF8.self)),
            let starts = Int(String(decoding: words[1], as: UTF8.self)), starts >= 0
        else { return nil }
        self.init(entry: EntryID(entry), starts: starts)
    }
}

/// Stores the trial in a file of the state folder. It is on the medium before the entry is opened, even when the
/// database is damaged.
///
/// Thread: the daemon's.
final class ResumeGuard {
    private let path: String
    /// Identifies this boot of the system. A start that a power cut ended does not count against its entry.
    private let boot: [UInt8]
    private let loop: EventLoop
    private var trial: ResumeTrial?
    private var timer: TimerToken?

    /// - Parameter boot: identifies this boot of the system; empty when it is not known.
    init(folder: String, loop: EventLoop, boot: [UInt8] = ResumeGuard.systemBoot()) {
        path = "\(folder)/resuming"
        self.boot = boot
        self.loop = loop
    }

    static func systemBoot() -> [UInt8] {
        do throws(SystemError) {
            return Array(try File.contents(of: "/proc/sys/kernel/random/boot_id", limit: 64).prefix { $0 > 0x20 })
        } catch {
            return []
        }
    }

    /// Whether the entry may be opened. If so, the attempt is on the medium when this returns.
    func mayOpen(_ entry: EntryID) -> Bool {
        switch ResumeTrial.decide(entry, after: kept()) {
        case .passOver:
            remove()
            return false
        case .open(let trial):
            begin(trial)
            return true
        }
    }

    /// This start resumes nothing.
    func forget() {
        if FileKind(at: path) == .file { remove() }
    }

    /// Another entry is current now, or none: the resumed entry caused no crash.
    func currentIs(_ entry: EntryID?) {
        if let trial, trial.entry != entry { end() }
    }

    /// The start has survived its entry. Idempotent.
    func end() {
        if let timer { loop.cancel(timer) }
        timer = nil
        if trial != nil { remove() }
        trial = nil
    }

    private func begin(_ trial: ResumeTrial) {
        do throws(SystemError) {
            try FileReplacement.write(Array(trial.text.utf8) + boot, to: path, mode: 0o600)
        } catch {
            // The folder cannot be written: nothing is counted, and the entry is opened.
            return Log.warning("an entry that ends the process cannot be noticed: \(error)")
        }
        self.trial = trial
        timer = loop.schedule(after: ResumeTrial.duration) { [self] in
            timer = nil
            end()
        }
    }

    private func kept() -> ResumeTrial? {
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

    /// Not durable: after a power cut the attempt may still be counted. One more start corrects this.
    private func remove() {
        do throws(SystemError) { try Folder.removeFile(path) } catch { Log.warning("\(error)") }
    }
}
