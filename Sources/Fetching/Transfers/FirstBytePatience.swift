import Network

/// How long the first byte of an answer may take. Each attempt that fails for this reason doubles it, so that even a
/// server that needs half a minute to begin is heard (docs/playback.md, 15.4). Each resource begins with the default
/// again.
struct FirstBytePatience: Equatable {
    /// The default of `NetworkSettings.firstByteTimeout`, in milliseconds.
    private static let first = 20_000
    private static let longest = 120_000

    /// The timeout of the next attempt; nil: as configured.
    private(set) var milliseconds: Int?

    mutating func failed(with error: TransferError) {
        guard error == .timeOut(.firstByte) else { return }
        milliseconds = min(2 * (milliseconds ?? Self.first), Self.longest)
    }
}
