import Media

/// The stored form of the keys of encrypted content: for each key its ID and its value, 16 bytes each.
struct OfflineLicense: Equatable {
    var keys: [ContentKeys.Key]

    init(keys: [ContentKeys.Key]) { self.keys = keys }

    /// Returns nil for bytes in another form.
    init?(bytes: [UInt8]) {
        guard bytes.count % 32 == 0 else { return nil }
        keys = stride(from: 0, to: bytes.count, by: 32).map {
            ContentKeys.Key(id: Array(bytes[$0..<($0 + 16)]), value: Array(bytes[($0 + 16)..<($0 + 32)]))
        }
    }

    var bytes: [UInt8] { keys.flatMap { $0.id + $0.value } }
}
