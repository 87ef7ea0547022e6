import Database
import Foundation
import Media
import Network
import Platform
import Player
import ProgramTestSupport
import TestSupport
import Testing

/// The daemon's way to the content on one side, the origin on the other, TCP between them.
@Suite("Streaming from the origin through the cache")
struct CachedStreamingTests {
    /// A time that is known.
    private final class Now: CertificateClock {
        func now() -> CertificateTime { CertificateTime(Int64(time(nil)), isProved: true) }
        func serverProves(_ seconds: Int64) {}
        func serverReports(_ seconds: Int64) {}
    }

    private let folder: ScratchFolder
    private let music = Music(frames: 400_000, seed: 1)

    init() throws {
        folder = try ScratchFolder()
        try FileManager.default.createDirectory(atPath: folder["music"], withIntermediateDirectories: true)
        try music.writeFLAC(to: folder["music/1.flac"])
    }

    /// One run of a program, with the cache in a folder.
    private final class Life {
        let streaming: StreamingService
        let decoder: any AudioDecoder
        private let buffer = UnsafeMutableBufferPointer<Int32>.allocate(capacity: 65_536)
        private(set) var samples: [UInt8] = []
        private(set) var hasEnded = false

        /// Opens the track.
        /// - Parameter readAhead: in bytes of memory.
        init(_ address: String, state: String, cache: String, readAhead: Int? = nil) throws {
            let storage = try StorageThread(state, modules: [DatabaseCacheIndex.schema])
            var service = ServiceSettings(baseURL: address)
            if let readAhead { service.readAhead = readAhead }
            var settings = StreamingSettings(service: service)
            settings.cache = CacheSettings(folder: cache, limits: CacheLimits(bytes: 64 << 20))
            settings.cache?.limits.freeBytes = 0
            streaming = try StreamingService(settings, clock: Now(), storage: storage)
            streaming.start()
            let product = MediaProduct(productType: .track, productId: "tonearm:track/1", referenceId: "1")
            decoder = try streaming.source.open(
                product, session: PlaybackSession(), cancellation: Cancellation(), medium: MediumAccess()
            ).decoder
        }

        deinit {
            streaming.stop()
            buffer.deallocate()
        }

        /// Decodes some frames, or all of them.
        func decode(atMost frames: Int = .max) throws {
            let end = frames == .max ? .max : samples.count + frames * 4
            while samples.count < end, !hasEnded {
                let room = UnsafeMutableBufferPointer(rebasing: buffer.prefix(min(65_536, (end - samples.count) / 2)))
                switch try decoder.read(into: room) {
                case .frames(let count):
                    for sample in buffer[..<(count * 2)] {
                        samples.append(UInt8(truncatingIfNeeded: sample >> 16))
                        samples.append(UInt8(truncatingIfNeeded: sample >> 24))
                    }
                case .format: break
                case .notYet:
                    let arrived = DispatchSemaphore(value: 0)
                    decoder.whenReadable { arrived.signal() }
                    try arrived.wait(for: "bytes of the content")
                case .end: hasEnded = true
                }
            }
        }
    }

    private func decode(_ address: String) throws -> [UInt8] {
        let life = try Life(address, state: folder["state.db"], cache: folder["cache"])
        try life.decode()
        return life.samples
    }

    /// The bytes of all bodies in a cache.
    private func stored(in cache: String) -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(cache)/bodies")) ?? []
        return names.reduce(0) { sum, name in
            let attributes = try? FileManager.default.attributesOfItem(atPath: "\(cache)/bodies/\(name)")
            return sum + ((attributes?[.size] as? Int) ?? 0)
        }
    }

    @Test(
        "Bytes without room in memory go into the cache: the service ends, and the whole track plays",
        arguments: ["dash", "hls", "bts"])
    func outage(manifest: String) throws {
        let music = Music(frames: 800_000, seed: 3)
        try music.writeFLAC(to: folder["music/1.flac"])
        let origin = try RunningOrigin(folder["music"], state: folder["state"], "--manifest", manifest)
        // How much there is to store.
        _ = try decode(origin.address)
        let all = stored(in: folder["cache"])
        #expect(all > 1 << 20)
        let life = try Life(
            origin.address, state: folder["second.db"], cache: folder["second"], readAhead: 600_000)
        let deadline = Deadline()
        // Each read is an occasion to fetch. Half of the track has to be enough, also on a busy machine.
        while stored(in: folder["second"]) < all, life.samples.count < 1_600_000, !deadline.hasPassed {
            try life.decode(atMost: 256)
            Deadline.pause()
        }
        #expect(stored(in: folder["second"]) == all)
        try origin.end()
        try life.decode()
        #expect(life.samples == music.samples())
    }

    @Test("A download takes from the cache what was streamed before", arguments: ["dash", "bts"])
    func download(manifest: String) throws {
        let size = try FileManager.default.attributesOfItem(atPath: folder["music/1.flac"])[.size] as? Int ?? 0
        let origin = try RunningOrigin(folder["music"], state: folder["state"], "--manifest", manifest)
        let port = try #require(origin.address.split(separator: ":").last.flatMap { Int($0) })
        // It is cut when the content passes for the second time.
        let line = CutLine(to: port, pieces: [size + size / 2], refusals: 0)
        defer { line.end() }
        let daemon = try RunningDaemon(
            settings: """
                [service]
                url = http://127.0.0.1:\(line.port)
                [offline]
                free-space = 0
                """)
        let watch = try daemon.watch()
        _ = try daemon.run("queue", "set", "--play", "tonearm:track/1")
        try watch.line { $0["state"] == "playing" }
        try watch.line { $0["state"] == "stopped" }
        _ = try daemon.run("offline", "add", "tonearm:track/1")
        expectSoon("the download") { (try? daemon.run("offline", "list").output.contains("kept")) ?? false }
        #expect(line.cutCount == 0, "content came twice")
        #expect(try daemon.end().code == 0)
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
