import Queue

/// Decides whether a start may open the current entry, in case this entry makes the process crash
/// (docs/decisions/entries-that-end-the-process.md).
struct ResumeTrial: Equatable {
    /// After this number of crashes in a row with one entry, it is skipped.
    static let limit = 2
    /// A start that runs for this long, in nanoseconds, has survived the entry: The position at which it resumed was at
    /// most 15 s before the crash.
    static let duration: Int64 = 30_000_000_000

    /// The entry that the start opened; nil when it opened none, or has survived it.
    var entry: EntryID?
    /// The number of crashes in a row with the entry, if the process crashes now.
    var deaths: Int

    static let survived = ResumeTrial(entry: nil, deaths: 0)

    enum Decision: Equatable {
        /// Store this, then open the entry.
        case open(ResumeTrial)
        case passOver
    }

    /// - Parameters:
    ///   - current: the entry that was current when the process ended.
    ///   - kept: the trial that the last process left; nil when it was stopped, or ended with the system.
    static func decide(_ current: EntryID, after kept: ResumeTrial?) -> Decision {
        // If the trial is of another entry, this entry was at least current at the crash.
        let deaths = kept.map { $0.entry == current ? $0.deaths : 1 } ?? 0
        return deaths >= limit ? .passOver : .open(ResumeTrial(entry: current, deaths: deaths + 1))
    }

    /// The contents of the file: `entry deaths`, where the entry is 0 for none.
    var text: String { "\(entry?.number ?? 0) \(deaths)\n" }

    init(entry: EntryID?, deaths: Int) {
        self.entry = entry
        self.deaths = deaths
    }

    /// Returns nil when the bytes are not a trial.
    init?(_ bytes: [UInt8]) {
        let words = bytes.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
        guard words.count == 2, let entry = UInt32(String(decoding: words[0], as: UTF8.self)),
            let deaths = Int(String(decoding: words[1], as: UTF8.self)), (0...Self.limit).contains(deaths)
        else { return nil }
        self.init(entry: entry > 0 ? EntryID(entry) : nil, deaths: deaths)
    }
}
