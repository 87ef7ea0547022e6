import Database
import Platform

/// Stores the settings of the last good start in the state, for a start at which the file has mistakes
/// (docs/decisions/last-good-settings.md). The values of clients are stored apart from them, and override the file and
/// the last good start.
///
/// Thread: the daemon's, except for `read`.
final class LastGoodSettings {
    private static let table = "good_setting"
    /// A key that is present when settings are stored, even if none of them is set.
    private static let mark = "stored"
    static let schema = SchemaModule("last-good", [Migration(1, KeyValueStore.schema(table))])

    private let storage: StorageThread
    private var stored: [SettingName: String]?

    /// - Parameter stored: the settings in the state.
    init(_ storage: StorageThread, stored: Configuration?) {
        self.storage = storage
        self.stored = stored?.stored
    }

    /// Returns the stored settings; nil when there are none. Thread: that of the database.
    static func read(_ database: Database) throws(DatabaseError) -> Configuration? {
        let rows = KeyValueStore(database, table: table)
        guard try rows.value(mark) != nil else { return nil }
        var stored: [SettingName: String] = [:]
        for name in SettingName.allCases { stored[name] = try rows.text(name.path) }
        return Configuration(lastGood: stored)
    }

    /// Stores settings, unless they are stored already.
    func keep(_ configuration: Configuration) {
        let new = configuration.stored
        guard new != stored else { return }
        stored = new
        storage.write(urgency: .canWait, answerOn: nil) { (database) throws(DatabaseError) in
            let rows = KeyValueStore(database, table: Self.table)
            try rows.set(true, for: Self.mark)
            for name in SettingName.allCases { try rows.set(new[name].map { .text($0) }, for: name.path) }
        } answer: { error in
            if let error { Log.warning("the settings of this start cannot be stored: \(error)") }
        }
    }

    /// Makes the next `keep` write the settings again, because the state may have lost them.
    func forget() { stored = nil }
}
