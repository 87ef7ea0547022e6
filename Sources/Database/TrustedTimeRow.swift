import Platform

/// The trusted time as one value of the configuration, so that it changes atomically.
///
/// Thread: that of its database.
public final class TrustedTimeRow: TrustedTimeStore {
    private static let key = "trustedTime"
    private let store: KeyValueStore

    public init(_ store: KeyValueStore) {
        self.store = store
    }

    public func load() -> TrustedTime.Record? {
        do throws(DatabaseError) {
            guard let text = try store.text(Self.key) else { return nil }
            let fields = text.utf8.split(separator: UInt8(ascii: " "))
            guard fields.count == 3, let milliseconds = Int64(Substring(fields[0])),
                let sinceBoot = Int64(Substring(fields[1]))
            else {
                Log.warning("the persisted time is not readable and is taken as unknown: \(text)")
                return nil
            }
            return TrustedTime.Record(
                milliseconds: milliseconds, sinceBoot: sinceBoot, boot: String(Substring(fields[2])))
        } catch {
            Log.warning("the persisted time cannot be read and is taken as unknown: \(error.description)")
            return nil
        }
    }

    public func save(_ record: TrustedTime.Record) {
        do throws(DatabaseError) {
            try store.set(.text("\(record.milliseconds) \(record.sinceBoot) \(record.boot)"), for: Self.key)
        } catch {
            Log.warning("the time cannot be persisted: \(error.description)")
        }
    }
}
