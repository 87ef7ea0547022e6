import Foundation
import Media
import Platform
import TestSupport
import Testing

@testable import Account
@testable import Playback
@testable import Player
@testable import Streaming

/// Fixtures of the suites about files on web servers.
protocol WebFileSuite {
    var files: WebFiles { get }
}

extension WebFileSuite {
    func open(
        _ url: String, of source: (any PlaybackSource)? = nil, _ medium: MediumAccess = MediumAccess()
    ) throws(PlayerError) -> OpenedProduct {
        try (source ?? files).open(
            MediaProduct(productType: .track, productId: url, referenceId: "r"), session: PlaybackSession(),
            cancellation: try! Cancellation(), medium: medium)
    }

    /// The rest of the samples, waiting for bytes.
    func decoded(_ decoder: any AudioDecoder) throws -> [Int32] {
        var samples: [Int32] = []
        let buffer = UnsafeMutableBufferPointer<Int32>.allocate(capacity: 16_384)
        defer { buffer.deallocate() }
        while true {
            switch try decoder.read(into: buffer) {
            case .frames(let count): samples += buffer.prefix(count * decoder.properties.format.channelCount)
            case .format: Issue.record("another format")
            case .end: return samples
            case .notYet:
                let arrival = try WakeUp()
                decoder.whenReadable { arrival.signal() }
                try #require(arrival.wait(milliseconds: 60_000))
            }
        }
    }
}

extension ScriptedConnection {
    /// Ends the connection in both directions.
    func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}
