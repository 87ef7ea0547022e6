import Manifests
import Media
import PCM
import Testing

@testable import Offline
@testable import Player
@testable import Streaming

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

@Suite("Content of 50,000 parts (docs/playback.md, 15.10)")
struct ManyPartsTests {
    /// A playlist with a discontinuity before each segment.
    private static func manifest(_ count: Int) -> [UInt8] {
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n"
        for number in 0..<count { text += "#EXT-X-DISCONTINUITY\n#EXTINF:4,\n\(number).aac\n" }
        return Array((text + "#EXT-X-ENDLIST\n").utf8)
    }

    private static func layout(_ bytes: [UInt8]) throws -> ContentLayout {
        try ContentLayout(Manifest(bytes, format: .hls, url: "https://h/a.m3u8"), quality: nil)
    }

    /// Whether five times as much takes much less than 25 times as long on the processor. Each is measured repeatedly.
    private static func isLinear(most: Int = 50_000, _ work: (Int) throws -> Void) rethrows -> Bool {
        func cost(_ count: Int) throws -> Int {
            var least = Int.max
            for _ in 0..<2 {
                var (start, end) = (timespec(), timespec())
                clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start)
                try work(count)
                clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end)
                least = min(least, (end.tv_sec - start.tv_sec) * 1_000_000_000 + end.tv_nsec - start.tv_nsec)
            }
            return least
        }
        return try cost(most) < 12 * cost(most / 5)
    }

    @Test("The layout and the resources of a download take linear time")
    func linear() throws {
        let bytes = [5000: Self.manifest(5000), 25_000: Self.manifest(25_000)]
        let isLinear = try Self.isLinear(most: 25_000) { count in
            let layout = try Self.layout(try #require(bytes[count]))
            #expect(layout.parts.count == count)
            let resources = try ContentResources(layout, in: nil)
            for index in 0..<resources.count { _ = try resources.at(index) }
            let last = try resources.at(count - 1).reference.url
            #expect(last == "https://h/\(count - 1).aac")
        }
        #expect(isLinear)
    }

    @Test("A decoder of all parts opens and goes through them in linear time, and knows its length")
    func decoder() throws {
        let isLinear = try Self.isLinear { count in
            let joined = try JoinedDecoder(durations: [Double?](repeating: 0.001, count: count)) { _ in
                OneFramePart()
            }
            var frames: Int64 = 0
            var known = 0
            let buffer = UnsafeMutableBufferPointer<Int32>.allocate(capacity: 2)
            defer { buffer.deallocate() }
            while case .frames(let read) = try joined.read(into: buffer) {
                frames += Int64(read)
                if joined.properties.frameCount != nil { known += 1 }
            }
            #expect(frames == Int64(count) && known == count)
        }
        #expect(isLinear)
    }

    @Test("Lengths: the sum follows what is learnt, and no claim overflows it")
    func lengths() {
        var lengths = PartLengths(durations: [1, nil, 2], rate: 100)
        #expect(lengths.total(with: nil, of: 0) == nil && lengths.total(with: 50, of: 0) == nil)
        #expect(lengths.total(with: nil, of: 1) == nil && lengths.total(with: 50, of: 1) == 350)
        #expect(lengths.position(of: 99) == (0, 99) && lengths.position(of: 100) == (1, 0))
        lengths[1] = 10
        #expect(lengths.total(with: nil, of: 0) == 310 && lengths.position(of: 115) == (2, 5))
        lengths[0] = 90
        #expect(lengths.total(with: nil, of: 2) == 300 && lengths.position(of: 1000) == (2, 900))
        lengths[2] = nil
        #expect(lengths.total(with: nil, of: 0) == nil)
        let long = PartLengths(durations: [Double?](repeating: 9.9e8, count: 50_000), rate: 192_000)
        #expect(long.total(with: nil, of: 0) == nil)
        var large = PartLengths(durations: [Double?](repeating: 1e8, count: 50_000), rate: 768_000)
        large[0] = .max
        #expect((large.total(with: nil, of: 0) ?? 0) > 0)
    }
}

/// One frame of stereo.
private final class OneFrame: AudioDecoder {
    private var isRead = false

    let properties = AudioProperties(
        format: PCMFormat(sampleRate: 1000, channelCount: 2, bitDepth: 16), frameCount: 1, container: .adts,
        codec: .aac, bitRate: nil)
    let metadata = TrackMetadata()
    let damage = DamageReport()

    func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(MediaError) -> DecodedRun {
        defer { isRead = true }
        return isRead ? .end : .frames(1)
    }

    func seek(toFrame frame: Int64) throws(MediaError) { isRead = frame > 0 }

    func whenReadable(_ wake: @escaping @Sendable () -> Void) { wake() }
}

/// A part of one frame, all of which is here.
private final class OneFramePart: PreparedPart {
    var isFetched: Bool { true }
    func fetchAhead() {}
    func open() -> any AudioDecoder { OneFrame() }
}
