import Database
import Foundation
import Media
import Network
import Platform
import Player
import TestSupport
import Testing

/// The daemon's way to the content on one side, the origin on the other, TCP between them.
@Suite("Streaming from the origin through the cache", .timeLimit(.minutes(10)))
struct CachedStreamingTests {
    /// A time that is known.
    private final class Now: CertificateClock {
        func now() -> CertificateTime { CertificateTime(Int64(time(nil)), isProved: true) }
        func serverProves(_ seconds: Int64) {}
    }

    private let folder: ScratchFolder
    private let music = Music(frames: 400_000, seed: 1)

    init() throws {
        folder = try ScratchFolder()
        try FileManager.default.createDirectory(atPath: folder["music"], withIntermediateDirectories: true)
        try music.writeFLAC(to: folder["music/1.flac"])
    }

    /// Opens the track with a program's life of its own, and decodes it.
    private func decode(_ address: String) throws -> [UInt8] {
        let storage = try StorageThread(folder["state.db"], modules: [DatabaseCacheIndex.schema])
        var settings = StreamingSettings(service: ServiceSettings(baseURL: address))
        settings.cache = CacheSettings(folder: folder["cache"], limits: CacheLimits(bytes: 64 << 20))
        settings.cache?.limits.freeBytes = 0
        let streaming = try Streaming(settings, clock: Now(), storage: storage)
        streaming.start()
        defer { streaming.stop() }
        let product = MediaProduct(productType: .track, productId: "tonearm:track/1", referenceId: "1")
        let opened = try streaming.source.open(
            product, session: PlaybackSession(), cancellation: Cancellation(), medium: MediumAccess())
        var samples: [UInt8] = []
        let buffer = UnsafeMutableBufferPointer<Int32>.allocate(capacity: 65_536)
        defer { buffer.deallocate() }
        while true {
            switch try opened.decoder.read(into: buffer) {
            case .frames(let count):
                for sample in buffer[..<(count * 2)] {
                    samples.append(UInt8(truncatingIfNeeded: sample >> 16))
                    samples.append(UInt8(truncatingIfNeeded: sample >> 24))
                }
            case .format: break
            case .notYet:
                let arrived = DispatchSemaphore(value: 0)
                opened.decoder.whenReadable { arrived.signal() }
                try arrived.wait(for: "bytes of the content")
            case .end: return samples
            }
        }
    }

    @Test("The second time only the answers of the service come from it", arguments: ["dash", "hls", "emu", "bts"])
    func secondTime(manifest: String) throws {
        let origin = try RunningOrigin(folder["music"], state: folder["state"], "--manifest", manifest)
        #expect(try decode(origin.address) == music.samples())
        let port = try #require(origin.address.split(separator: ":").last.flatMap { Int($0) })
        // The program may have ended before the last bytes were stored: less than two chunks, or a short last segment.
        // All of the content is about 1 MB.
        let line = CutLine(to: port, pieces: [250_000], refusals: 1)
        defer { line.end() }
        #expect(try decode("http://127.0.0.1:\(line.port)") == music.samples())
        #expect(line.cutCount == 0, "content came through the line")
    }
}
