import Network

/// How long the first byte of an answer may take. Each attempt that ends by that doubles it, so that a server which
/// takes half a minute to begin is heard in the end (docs/playback.md, 15.4). It starts over with each resource.
struct FirstBytePatience: Equatable {
    /// In milliseconds. It begins with the default of `NetworkSettings.firstByteTimeout`.
    private static let first = 20_000
    private static let longest = 120_000

    /// For the next attempt; nil: as the settings say.
    private(set) var milliseconds: Int?

    mutating func failed(with error: TransferError) {
        guard error == .timeOut(.firstByte) else { return }
        milliseconds = min(2 * (milliseconds ?? Self.first), Self.longest)
    }
}
