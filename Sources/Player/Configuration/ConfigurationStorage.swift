import Database
import PCM
import Platform

/// The configuration in the state folder's database. Read at start, written in the background by a thread of its own: a
/// write waits for the medium, and control must not.
///
/// A power cut during a write leaves the values before it: all of a change is one transaction.
final class ConfigurationStorage: @unchecked Sendable {
    /// Takes what keeps the values from being stored, and nil when they are stored again.
    typealias Report = @Sendable (String?) -> Void

    private static let migrations = [Migration(1, KeyValueStore.schema)]

    private let loop: EventLoop
    private let thread: NamedThread
    /// nil where nothing is kept. Used by the caller of `init` first, by the storage thread alone after that.
    private let store: KeyValueStore?
    private let onlyVolume: Bool
    /// In nanoseconds.
    private static let retryInterval: Int64 = 10_000_000_000
    /// What was stored last. Storage thread.
    private var stored: PlaybackEngineConfig.Values
    private let lock = Lock()
    /// The next try after a failure. Storage thread.
    private var retry: TimerToken?
    /// What is to be stored and was not begun. Guarded by `lock`, as is `report`.
    private var pending: PlaybackEngineConfig.Values?
    private var report: Report = log

    /// What was stored, or the default where nothing (valid) was.
    let initialValues: PlaybackEngineConfig.Values

    /// - Parameters:
    ///   - folder: made where it is missing; nil keeps nothing.
    ///   - onlyVolume: leave everything but the volume alone.
    init(folder: String?, onlyVolume: Bool = false) throws(PlayerError) {
        self.onlyVolume = onlyVolume
        store = try Self.open(folder)
        initialValues = try Self.readAll(store, onlyVolume)
        stored = initialValues
        do throws(SystemError) {
            let loop = try EventLoop()
            self.loop = loop
            thread = try NamedThread.start(name: "storage", stackSize: 256 * 1024) { loop.run() }
        } catch {
            throw PlayerError(error)
        }
    }

    private static func open(_ folder: String?) throws(PlayerError) -> KeyValueStore? {
        guard let folder else { return nil }
        do throws(SystemError) { try Folder.create(folder, mode: 0o700) } catch { throw PlayerError(error) }
        do throws(DatabaseError) {
            let database = try Database(path: "\(folder)/\(Player.databaseName)")
            try database.migrate(migrations)
            return KeyValueStore(database)
        } catch {
            throw PlayerError(error)
        }
    }

    private static func readAll(
        _ store: KeyValueStore?, _ onlyVolume: Bool
    ) throws(PlayerError) -> PlaybackEngineConfig.Values {
        var values = PlaybackEngineConfig.Values()
        guard let store else { return values }
        do throws(DatabaseError) {
            if !onlyVolume { try readPlayback(&values, store) }
            try readVolume(&values, store)
        } catch {
            throw PlayerError(error)
        }
        return values
    }

    /// Writes `values` soon; of several calls in a row the last one counts. Any thread.
    func save(_ values: PlaybackEngineConfig.Values) {
        lock.withLock { pending = values }
        loop.post { [self] in writePending() }
    }

    /// Calls `report` on the storage thread; nil writes to the log instead.
    func observe(_ report: Report?) {
        lock.withLock { self.report = report ?? Self.log }
    }

    private static let log: Report = { problem in
        if let problem { Log.error(problem) }
    }

    /// Writes what is still to be written, also what could not be written before, then ends the thread.
    func shutDown() {
        loop.post { [self] in
            if retry != nil { writePending() }
        }
        loop.stop()
        thread.join()
    }

    private func writePending() {
        let values = lock.withLock {
            defer { pending = nil }
            return pending
        }
        guard let values, let store else { return }
        do throws(DatabaseError) {
            if onlyVolume ? !values.hasVolume(of: stored) : values != stored { try write(values, to: store) }
            stored = values
            if let retry {
                loop.cancel(retry)
                self.retry = nil
                tell(nil)
            }
        } catch {
            lock.withLock { pending = pending ?? values }
            if let retry { loop.cancel(retry) } else { tell("the settings could not be saved: \(error)") }
            retry = loop.schedule(after: Self.retryInterval) { [self] in writePending() }
        }
    }

    private func tell(_ problem: String?) {
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
        if let name = try store.text(Key.wifiQuality), let quality = AudioQuality(storedName: name) {
            values.streamingWifiAudioQuality = quality
        }
        if let name = try store.text(Key.cellularQuality), let quality = AudioQuality(storedName: name) {
            values.streamingCellularAudioQuality = quality
        }
    }

    private static func readVolume(
        _ values: inout PlaybackEngineConfig.Values, _ store: KeyValueStore
    ) throws(DatabaseError) {
        if let percent = try store.integer(Key.maximumVolume) {
            values.maximumVolume = Volume(percent: Int(clamping: percent))
        }
        if let percent = try store.integer(Key.volume) { values.volume = Volume(percent: Int(clamping: percent)) }
        values.volume = values.volume.limited(to: values.maximumVolume)
        if let isMuted = try store.boolean(Key.muted) { values.isMuted = isMuted }
    }

    private func write(_ values: PlaybackEngineConfig.Values, to store: KeyValueStore) throws(DatabaseError) {
        try store.database.transaction { () throws(DatabaseError) in
            if !onlyVolume { try Self.writePlayback(values, to: store) }
            try Self.writeVolume(values, to: store)
        }
    }

    private static func writePlayback(
        _ values: PlaybackEngineConfig.Values, to store: KeyValueStore
    ) throws(DatabaseError) {
        try store.set(.text(values.loudnessNormalizationMode.storedName), for: Key.loudnessMode)
        try store.set(.integer(Int64(values.loudnessNormalizationPreAmp)), for: Key.preAmp)
        try store.set(.text(values.streamingWifiAudioQuality.storedName), for: Key.wifiQuality)
        try store.set(.text(values.streamingCellularAudioQuality.storedName), for: Key.cellularQuality)
    }

    private static func writeVolume(
        _ values: PlaybackEngineConfig.Values, to store: KeyValueStore
    ) throws(DatabaseError) {
        try store.set(.integer(Int64(values.maximumVolume.percent)), for: Key.maximumVolume)
        try store.set(.integer(Int64(values.volume.percent)), for: Key.volume)
        try store.set(values.isMuted, for: Key.muted)
    }
}

extension PlaybackEngineConfig.Values {
    fileprivate func hasVolume(of other: Self) -> Bool {
        volume == other.volume && maximumVolume == other.maximumVolume && isMuted == other.isMuted
    }
}

/// The keys in the database. Never renamed: what users have set is found under them.
private enum Key {
    static let loudnessMode = "playback.loudnessNormalizationMode"
    static let preAmp = "playback.loudnessNormalizationPreAmp"
    static let wifiQuality = "playback.streamingWifiAudioQuality"
    static let cellularQuality = "playback.streamingCellularAudioQuality"
    static let volume = "playback.volume"
    static let maximumVolume = "playback.maximumVolume"
    static let muted = "playback.muted"
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

extension AudioQuality {
    /// The service's own name.
    fileprivate var storedName: String {
        switch self {
        case .low: "LOW"
        case .high: "HIGH"
        case .lossless: "LOSSLESS"
        case .hiRes: "HI_RES"
        case .hiResLossless: "HI_RES_LOSSLESS"
        }
    }

    fileprivate init?(storedName: String) {
        guard let quality = Self.allCases.first(where: { $0.storedName == storedName }) else { return nil }
        self = quality
    }
}
