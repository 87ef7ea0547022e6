import Database
import PCM
import Platform
import Playback

/// The player's configuration in the database of the state. It is read at the start, and written by the storage thread,
/// because a write waits for the medium. Control must not wait. A change is written at once. Changes within a second
/// after a write are written at the end of that second (docs/decisions/durable-writes.md).
///
/// A power cut during a write leaves the old values: a change is one transaction.
// @unchecked: `lock` guards the values that threads share; `init` and then only the storage thread write the others.
final class ConfigurationStorage: @unchecked Sendable {
    /// Called with the reason when the values cannot be stored, and with nil when they are stored again.
    typealias Report = @Sendable (String?) -> Void

    static let schema = SchemaModule("player", [Migration(1, KeyValueStore.schema())])

    private let thread: StorageThread
    private let onlyVolume: Bool
    /// The delay until a failed write is retried, in nanoseconds.
    private static let retryInterval: Int64 = 10_000_000_000
    /// The time between two writes, in nanoseconds: turning a knob causes one write a second.
    static let interval: Int64 = 1_000_000_000
    /// The values that were stored last; nil when they are not known. Storage thread.
    private var stored: PlaybackEngineConfig.Values?
    private let lock = Lock()
    /// The values to store. Guarded by `lock`, as are `writer` and `report`.
    private var pending: PlaybackEngineConfig.Values?
    private var writer = CoalescingWriter()
    private var report: Report = log

    /// The stored values, with defaults for missing or invalid ones.
    let initialValues: PlaybackEngineConfig.Values

    /// - Parameters:
    ///   - thread: the storage thread; its modules include `schema`.
    ///   - onlyVolume: store only what no configuration file has: the volume, and the device of `auto`.
    ///   - firstVolume: the volume that is used while none is known.
    init(_ thread: StorageThread, onlyVolume: Bool = false, firstVolume: Volume = .first) {
        self.thread = thread
        self.onlyVolume = onlyVolume
        var values = PlaybackEngineConfig.Values()
        values.volume = firstVolume
        values.isVolumeKnown = false
        do throws(DatabaseError) {
            values =
                try thread.read { (database) throws(DatabaseError) in
                    try Self.readAll(values, KeyValueStore(database), onlyVolume)
                } ?? values
        } catch {
            Log.error("the settings cannot be read and begin with their defaults: \(error)")
        }
        initialValues = values
        stored = values
        thread.join()
    }

    /// Reads the stored values; `defaults` for missing ones.
    static func readAll(
        _ defaults: PlaybackEngineConfig.Values, _ store: KeyValueStore, _ onlyVolume: Bool
    ) throws(DatabaseError) -> PlaybackEngineConfig.Values {
        var values = defaults
        if !onlyVolume { try readPlayback(&values, store) }
        try readOutput(&values, store)
        return values
    }

    /// Writes `values` soon; of several calls in a row only the last one counts. Any thread.
    func save(_ values: PlaybackEngineConfig.Values) {
        let begins = lock.withLock {
            pending = values
            return writer.change()
        }
        if begins { write() }
    }

    /// Calls `report` on the storage thread; nil writes to the log instead.
    func observe(_ report: Report?) {
        lock.withLock { self.report = report ?? Self.log }
    }

    private static let log: Report = { problem in
        if let problem { Log.error(problem) }
    }

    /// Writes the remaining values, also after a failed write, and ends the use of the thread.
    func shutDown() {
        if lock.withLock({ pending != nil }) { write() }
        thread.leave()
    }

    private func write() {
        // The user caused this change: the write budget is for writes that playback causes by itself. The work reads
        // the pending values when it runs, and may run twice: see `StorageThread.Work`.
        thread.write(answerOn: nil) { [self] (database) throws(DatabaseError) in
            let values = lock.withLock {
                writer.take()
                return pending
            }
            if let values { try write(values, KeyValueStore(database)) }
            written = values
        } answer: { [self] error in
            answered(error)
        }
    }

    /// The values of the last write. Storage thread.
    private var written: PlaybackEngineConfig.Values?

    private func answered(_ error: DatabaseError?) {
        guard let error else {
            stored = written
            let isNews = lock.withLock {
                // Without a database file nothing was written, and a retry would write nothing.
                if written == nil || pending == written {
                    pending = nil
                    writer.take()
                }
                return writer.end(succeeded: true)
            }
            if isNews { notify(nil) }
            return rest()
        }
        stored = nil
        let (isNews, setsTimer) = lock.withLock { (writer.end(succeeded: false), writer.waitForRetry()) }
        if isNews { notify("the settings could not be saved: \(error)") }
        guard setsTimer else { return }
        thread.schedule(after: Self.retryInterval) { [self] in
            if lock.withLock({ writer.retry() }) { write() }
        }
    }

    /// Delays later values to the end of the next second. Storage thread.
    private func rest() {
        guard lock.withLock({ writer.rest() }) else { return }
        thread.schedule(after: Self.interval) { [self] in
            if lock.withLock({ writer.endRest() }) { write() }
        }
    }

    private func notify(_ problem: String?) {
        let report = lock.withLock { self.report }
        report(problem)
    }

    // MARK: Values by key

    private static func readPlayback(
        _ values: inout PlaybackEngineConfig.Values, _ store: KeyValueStore
    ) throws(DatabaseError) {
        if let name = try store.text(Key.loudnessMode), let mode = LoudnessNormalizationMode(storedName: name) {
            values.loudnessNormalizationMode = mode
        }
        if let preAmp = try store.integer(Key.preAmp) {
            values.loudnessNormalizationPreAmp = PlaybackEngineConfig.limitedPreAmp(Int(clamping: preAmp))
        }
        if let gain = try store.integer(Key.untaggedGain) {
            values.untaggedGain = PlaybackEngineConfig.limitedUntaggedGain(Int(clamping: gain))
        }
        if let name = try store.text(Key.wifiQuality), let quality = AudioQuality(serviceName: name) {
            values.streamingWifiAudioQuality = quality
        }
        if let name = try store.text(Key.cellularQuality), let quality = AudioQuality(serviceName: name) {
            values.streamingCellularAudioQuality = quality
        }
        if let name = try store.text(Key.offlineAudioQuality), let quality = AudioQuality(serviceName: name) {
            values.offlineAudioQuality = quality
        }
        if let name = try store.text(Key.offlineVideoQuality), let quality = VideoQuality(serviceName: name) {
            values.offlineVideoQuality = quality
        }
        if let isAllowed = try store.boolean(Key.offlineOverCellular) { values.offlineOverCellular = isAllowed }
    }

    private static func readOutput(
        _ values: inout PlaybackEngineConfig.Values, _ store: KeyValueStore
    ) throws(DatabaseError) {
        if let maximum = try volume(Key.maximumVolume, store) { values.maximumVolume = maximum }
        if let volume = try volume(Key.volume, store) {
            values.volume = volume
            values.isVolumeKnown = true
        }
        values.volume = values.volume.limited(to: values.maximumVolume)
        values.unaskedVolume = try volume(Key.unaskedVolume, store)
        if let isMuted = try store.boolean(Key.muted) { values.isMuted = isMuted }
        values.automaticDevice = try store.text(Key.automaticDevice).map { .init($0) }
    }

    /// Returns nil also for a value that is not a percentage: the volume is unknown then, which is safer than the
    /// nearest value.
    private static func volume(_ key: String, _ store: KeyValueStore) throws(DatabaseError) -> Volume? {
        guard let percent = try store.integer(key), (0...100).contains(percent) else { return nil }
        return Volume(percent: Int(percent))
    }

    private func write(_ values: PlaybackEngineConfig.Values, _ store: KeyValueStore) throws(DatabaseError) {
        if let stored, onlyVolume ? values.hasOutput(of: stored) : values == stored { return }
        if !onlyVolume { try Self.writePlayback(values, to: store) }
        try Self.writeOutput(values, to: store)
    }

    private static func writePlayback(
        _ values: PlaybackEngineConfig.Values, to store: KeyValueStore
    ) throws(DatabaseError) {
        try store.set(.text(values.loudnessNormalizationMode.storedName), for: Key.loudnessMode)
        try store.set(.integer(Int64(values.loudnessNormalizationPreAmp)), for: Key.preAmp)
        try store.set(.integer(Int64(values.untaggedGain)), for: Key.untaggedGain)
        try store.set(.text(values.streamingWifiAudioQuality.serviceName), for: Key.wifiQuality)
        try store.set(.text(values.streamingCellularAudioQuality.serviceName), for: Key.cellularQuality)
        try store.set(.text(values.offlineAudioQuality.serviceName), for: Key.offlineAudioQuality)
        try store.set(.text(values.offlineVideoQuality.serviceName), for: Key.offlineVideoQuality)
        try store.set(values.offlineOverCellular, for: Key.offlineOverCellular)
    }

    private static func writeOutput(
        _ values: PlaybackEngineConfig.Values, to store: KeyValueStore
    ) throws(DatabaseError) {
        try store.set(.integer(Int64(values.maximumVolume.percent)), for: Key.maximumVolume)
        // A volume that is used while none is known must not be stored as the user's volume.
        if values.isVolumeKnown { try store.set(.integer(Int64(values.volume.percent)), for: Key.volume) }
        if let volume = values.unaskedVolume {
            try store.set(.integer(Int64(volume.percent)), for: Key.unaskedVolume)
        }
        try store.set(values.isMuted, for: Key.muted)
        if let device = values.automaticDevice { try store.set(.text(device.name), for: Key.automaticDevice) }
    }
}

extension PlaybackEngineConfig.Values {
    fileprivate func hasOutput(of other: Self) -> Bool {
        volume == other.volume && maximumVolume == other.maximumVolume && isMuted == other.isMuted
            && isVolumeKnown == other.isVolumeKnown && unaskedVolume == other.unaskedVolume
            && automaticDevice == other.automaticDevice
    }
}

/// The keys in the database. Never renamed: the values of users are stored under them.
private enum Key {
    static let loudnessMode = "playback.loudnessNormalizationMode"
    static let preAmp = "playback.loudnessNormalizationPreAmp"
    static let untaggedGain = "playback.untaggedGain"
    static let wifiQuality = "playback.streamingWifiAudioQuality"
    static let cellularQuality = "playback.streamingCellularAudioQuality"
    static let offlineAudioQuality = "offline.offlineAudioQuality"
    static let offlineVideoQuality = "offline.offlineVideoQuality"
    static let offlineOverCellular = "offline.offlineOverCellular"
    static let volume = "playback.volume"
    static let unaskedVolume = "playback.unaskedVolume"
    static let maximumVolume = "playback.maximumVolume"
    static let muted = "playback.muted"
    static let automaticDevice = "output.automaticDevice"
}

extension LoudnessNormalizationMode {
    fileprivate var storedName: String {
        switch self {
        case .off: "off"
        case .track: "track"
        case .album: "album"
        }
    }

    fileprivate init?(storedName: String) {
        switch storedName {
        case "off": self = .off
        case "track": self = .track
        case "album": self = .album
        default: return nil
        }
    }
}
