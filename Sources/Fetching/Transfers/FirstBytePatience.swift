import Network

/// How long the first byte of an answer may take. Each attempt that fails for this reason doubles it, so that even a
/// server that needs half a minute to begin is heard (docs/playback.md, 15.4). Content without an alternative has the
/// longest time at once: the kernel ends a connection that does not live. Where another address may be quicker, the
/// next resource of a slow host begins with a timeout by which it is not requested twice (`FailedAddresses`).
struct FirstBytePatience: Equatable {
    /// The default of `NetworkSettings.firstByteTimeout`, in milliseconds.
    private static let first = 20_000
    static let longest = 120_000

    /// Returns the timeout for the next answer of a host that has taken so long, in milliseconds.
    /// - Returns: nil for the default.
    static func timeout(afterAnswerIn milliseconds: Int) -> Int? {
        milliseconds < first / 2 ? nil : min(2 * max(first, min(milliseconds, longest)), longest)
    }

    /// The timeout of the next attempt; nil: as configured.
    private(set) var milliseconds: Int?

    mutating func failed(with error: TransferError) {
        guard error == .timeOut(.firstByte) else { return }
        milliseconds = min(2 * (milliseconds ?? Self.first), Self.longest)
    }
}
