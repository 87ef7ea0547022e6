import Platform

/// Decides whether a start may open the current entry, in case this entry makes the process crash
/// (docs/decisions/entries-that-end-the-process.md).
struct ResumeTrial: Equatable {
    /// After so many deaths in a row with one entry, it is skipped.
    static let limit = 2
    /// A start that runs for this long, in nanoseconds, has survived the entry: the resumed position was at most 10 s
    /// old.
    static let duration: Int64 = 30_000_000_000

    /// The entry that the start opened; nil when it opened none, or has survived it.
    var entry: EntryID?
    /// How often in a row the process will have died with the entry if it dies now.
    var deaths: Int

    static let survived = ResumeTrial(entry: nil, deaths: 0)

    enum Decision: Equatable {
        /// Store this, then open the entry.
        case open(ResumeTrial)
        case passOver
    }

    /// - Parameters:
    ///   - current: the entry that was current when the process ended.
    ///   - kept: the trial that the last process has left; nil when it was stopped, or ended with the system.
    static func decide(_ current: EntryID, after kept: ResumeTrial?) -> Decision {
        // Without its own trial the entry was at least current when the process died.
        let deaths = kept.map { $0.entry == current ? $0.deaths : 1 } ?? 0
        return deaths >= limit ? .passOver : .open(ResumeTrial(entry: current, deaths: deaths + 1))
    }

    /// `entry deaths`, as the file stores it; 0 for no entry.
    var text: String { "\(entry?.number ?? 0) \(deaths)\n" }

    init(entry: EntryID?, deaths: Int) {
        self.entry = entry
        self.deaths = deaths
    }

    /// nil when the bytes are not a trial.
    init?(_ bytes: [UInt8]) {
        let words = bytes.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
        guard words.count == 2, let entry = UInt32(String(decoding: words[0], as: UTF8.self)),
            let deaths = Int(String(decoding: words[1], as: UTF8.self)), (0...Self.limit).contains(deaths)
        else { return nil }
        self.init(entry: entry > 0 ? EntryID(entry) : nil, deaths: deaths)
    }
}

/// Stores the trial in a file of the state folder while the process runs. A process that died has left the file that
/// a start finds.
///
/// Thread: the daemon's.
final class ResumeGuard {
    private let path: String
    /// Identifies this boot of the system. A power cut does not count against the entry.
    private let boot: [UInt8]
    private let loop: EventLoop
    /// The entry on trial.
    private var entry: EntryID?
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

    /// Whether this start may open the entry.
    func mayOpen(_ entry: EntryID) -> Bool {
        switch ResumeTrial.decide(entry, after: kept()) {
        case .passOver:
            // Nothing is known against the next entry.
            remove()
            return false
        case .open(let trial):
            write(trial)
            self.entry = entry
            timer = loop.schedule(after: ResumeTrial.duration) { [self] in
                timer = nil
                survive()
            }
            return true
        }
    }

    /// This start opens nothing.
    func openNothing() { write(.survived) }

    /// Another entry is current now, or none: the opened entry caused no crash.
    func currentIs(_ current: EntryID?) {
        if let entry, entry != current { survive() }
    }

    /// The process is stopped and does not die.
    func end() {
        stopTimer()
        entry = nil
        remove()
    }

    private func survive() {
        stopTimer()
        entry = nil
        write(.survived)
    }

    private func stopTimer() {
        if let timer { loop.cancel(timer) }
        timer = nil
    }

    // MARK: The file

    /// Not durable: it is needed only until the system stops, and until then the kernel keeps it.
    private func write(_ trial: ResumeTrial) {
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

    private func remove() {
        guard FileKind(at: path) == .file else { return }
        do throws(SystemError) { try Folder.removeFile(path) } catch { Log.warning("\(error)") }
    }
}
