import Network
import Platform

extension NetworkSettings {
    /// For the server of the tests, with limits of time that no healthy transfer meets.
    static func forTests(_ change: (inout NetworkSettings) -> Void = { _ in }) throws -> NetworkSettings {
        var settings = NetworkSettings { 1_800_000_000 }
        settings.caFile = try Nginx.shared.get().certificates.authority
        settings.connectTimeout = 120_000
        settings.firstByteTimeout = 120_000
        settings.silenceTimeout = 120_000
        change(&settings)
        return settings
    }
}

extension Network {
    static func forTests(_ change: (inout NetworkSettings) -> Void = { _ in }) throws -> Network {
        try Network(.forTests(change))
    }

    /// Starts a transfer and waits for its end.
    func run(_ request: TransferRequest) -> (sink: RecordingSink, error: TransferError?) {
        let sink = RecordingSink()
        _ = start(request, into: sink)
        return (sink, sink.waitForEnd())
    }

    func run(_ url: String) -> (sink: RecordingSink, error: TransferError?) { run(TransferRequest(url: url)) }
}
