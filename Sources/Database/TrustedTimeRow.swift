import Platform

/// The trusted time as one value of the configuration, so that it changes atomically.
///
/// Thread: the thread of its database.
public struct TrustedTimeRow {
    private static let key = "trustedTime"
    /// The fourth word of a time that was proved since the start of the system.
    private static let proved = "proved"
    private let store: KeyValueStore

    public init(_ store: KeyValueStore) {
        self.store = store
    }

    public func load() -> TrustedTime.Record? {
        do throws(DatabaseError) {
            guard let text = try store.text(Self.key) else { return nil }
            let fields = text.utf8.split(separator: UInt8(ascii: " "))
            // Rows of earlier versions have three fields.
            guard fields.count == 3 || fields.count == 4 && fields[3].elementsEqual(Self.proved.utf8),
                let milliseconds = Int64(Substring(fields[0])), let sinceBoot = Int64(Substring(fields[1]))
            else {
                Log.warning("the persisted time is not readable and is taken as unknown: \(text)")
                return nil
            }
            return TrustedTime.Record(
                milliseconds: milliseconds, sinceBoot: sinceBoot, boot: String(Substring(fields[2])),
                isProved: fields.count == 4)
        } catch {
            Log.warning("the persisted time cannot be read and is taken as unknown: \(error.description)")
            return nil
        }
    }

    public func save(_ record: TrustedTime.Record) throws(DatabaseError) {
        let words = "\(record.milliseconds) \(record.sinceBoot) \(record.boot)"
        try store.set(.text(record.isProved ? "\(words) \(Self.proved)" : words), for: Self.key)
    }
}
